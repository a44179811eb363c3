// A charge or a static QR code: its facts, the codes to pay it with, its payments and refunds, and
// its story.
import { Controller } from '@nestjs/common';
import { printDay } from '../../brazil/printed-text.js';
import { ChargeChanges } from '../../outbound/charges/charge-changes.service.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Amount, Card, FactList } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable } from '../kit/frame.js';
import { Shown, type PageAnswer } from '../page.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import { callerOf, isAllowedTo, pathTo } from '../visit.js';
import { chargeFacts } from './charge-facts.js';
import { codesOf, drawingsOf, type Drawings } from './payment-codes.js';
import { PaymentStories, type ComposedStory } from './payment-stories.service.js';
import {
  CodesCard,
  CounterpartyCard,
  Exchanged,
  Identifier,
  OutcomeNotice,
  pathOfRecord,
  recordId,
  RelatedRecords,
  SettlementBadge,
  RecordStateBadge,
  Steps,
} from './record-page.js';
import { Story } from './story-timeline.js';
import { awaitedOf } from './story.js';

const maxChanges = 10;

type Charge = Awaited<ReturnType<ChargesService['get']>>;

@Controller()
export class ChargePages {
  constructor(
    private readonly charges: ChargesService,
    private readonly changes: ChargeChanges,
    private readonly stories: PaymentStories,
  ) {}

  @ConsolePage({ path: '/console/accounts/:account/charges/:id', needs: 'view' })
  async charge(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const charge = await this.charges.get(accountId, recordId(visit));
    const { correlationId, operationId, expectedPaymentId } = charge;
    const [changeIds, counterparty] = await Promise.all([
      this.changes.list(accountId, correlationId, maxChanges),
      this.stories.findExpectedParty(visit, expectedPaymentId),
    ]);
    const operationIds = [operationId, ...changeIds];
    const story = await this.stories.compose(visit, {
      operationIds,
      expectedPaymentIds: [expectedPaymentId],
      resources: [
        { kind: 'charge', id: correlationId },
        ...operationIds.map((id) => ({ kind: 'operation', id })),
      ],
      correlationIds: [correlationId],
      refundIds: charge.refunds.flatMap(({ id, orderedBy }) => (orderedBy === 'us' ? id : [])),
    });
    return new Shown(
      visit.t('payment.charge', { id: correlationId }),
      <ChargePage
        visit={visit}
        charge={charge}
        response={shownResponse(charge, scopes)}
        counterparty={counterparty}
        codes={codesOf(charge)}
        drawings={await drawingsOf(codesOf(charge))}
        story={story}
      />,
    );
  }
}

interface Props {
  visit: Visit;
  charge: Charge;
}

function ChargePage({
  visit,
  charge,
  response,
  counterparty,
  codes,
  drawings,
  story,
}: Props & {
  response: unknown;
  counterparty: Parameters<typeof CounterpartyCard>[0]['counterparty'];
  codes: Parameters<typeof CodesCard>[0]['codes'];
  drawings: Drawings;
  story: ComposedStory;
}) {
  const { operationId, expectedPaymentId } = charge;
  return (
    <>
      <OutcomeNotice visit={visit} operation={charge} />
      <div class="cards">
        <ChargeFacts visit={visit} charge={charge} />
        <CounterpartyCard visit={visit} title="payment.payer" counterparty={counterparty} />
        <RelatedRecords
          visit={visit}
          links={[
            { label: 'payment.operation', list: 'operations', id: operationId },
            {
              label: 'payment.expectedPayment',
              list: 'expected-payments',
              id: expectedPaymentId,
            },
            ...story.breaks,
          ]}
        />
      </div>
      <ChargeSteps visit={visit} charge={charge} />
      <CodesCard
        visit={visit}
        codes={codes}
        drawings={drawings}
        isOpen={charge.settlement === 'open' || codes.digitableLine === null}
      />
      <Payments visit={visit} charge={charge} />
      <Refunds visit={visit} charge={charge} />
      <Story visit={visit} {...story} awaited={awaitedOf(charge, true)} />
      <Exchanged visit={visit} title="payment.response" value={response} />
    </>
  );
}

function ChargeFacts({ visit, charge }: Props) {
  const { t, language } = visit;
  const { settlement, operationState } = charge;
  const { amountCents, dueDate, createdAt } = chargeFacts(charge);
  const { digitableLine, pixCode } = codesOf(charge);
  const isSlip = digitableLine !== null;
  return (
    <FactList
      visit={visit}
      title="payment.facts"
      facts={[
        ['payment.settlement', <SettlementBadge visit={visit} settlement={settlement} />],
        [
          'payment.request',
          <RecordStateBadge visit={visit} list="payment.operation" state={operationState} />,
        ],
        [
          'payment.amount',
          amountCents === null ? t('payment.openAmount') : <Amount cents={amountCents} />,
        ],
        [
          'payment.type',
          t(
            isSlip
              ? pixCode === null
                ? 'payment.type.slip'
                : 'payment.type.slipWithQr'
              : 'payment.type.qr',
          ),
        ],
        ['payment.dueDate', dueDate === null ? t('app.none') : printDay(dueDate)],
        ...earlierDueDates(charge).map(({ dueDate, until }): [TextKey, string] => [
          'payment.earlierDueDate',
          t('payment.dueUntil', { day: printDay(dueDate), until: formatTime(until, language) }),
        ]),
        ['payment.createdAt', formatTime(createdAt, language)],
        ['payment.correlationId', <Identifier text={charge.correlationId} />],
      ]}
    />
  );
}

/** Each with the time at which the next one replaced it. */
function earlierDueDates({ dueDates }: Charge) {
  return dueDates.slice(1).map(({ since: until }, index) => {
    return { dueDate: dueDates[index]?.dueDate ?? '', until };
  });
}

function ChargeSteps({ visit, charge }: Props) {
  const { settlement, operationState, correlationId, cancelledAt } = charge;
  const isOpen = settlement === 'open' || settlement === 'expired';
  const mayVoid = isOpen && cancelledAt === null && operationState === 'succeeded';
  if (!mayVoid || !isAllowedTo(visit, 'request payments')) return null;
  return (
    <Steps visit={visit}>
      <a class="button" href={`${pathOfRecord(visit, 'charges', correlationId)}/void`}>
        {visit.t('payment.void')}
      </a>
    </Steps>
  );
}

function Payments({ visit, charge: { payments, paymentCount } }: Props) {
  const { t, language } = visit;
  const mayRefund = isAllowedTo(visit, 'request payments');
  return (
    <Card title={t('payment.payments')}>
      <DataTable
        empty={t('payment.payments.empty')}
        visit={visit}
        name={t('payment.payments')}
        columns={['payment.when', 'payment.amount', 'payment.nsu', 'payment.steps']}
        numbers={['payment.amount']}
      >
        {payments.map(({ nsu, amount, occurredAt, endToEndId }) => (
          <tr>
            <td>{formatTime(occurredAt, language)}</td>
            <td class="number">
              <Amount cents={amount} />
            </td>
            <td>
              <a href={pathTo(visit, `statement/${nsu}`)}>{nsu.toString()}</a>
            </td>
            <td>
              {mayRefund && endToEndId?.startsWith('E') ? (
                <a href={pathTo(visit, `refunds/new/${nsu}`)}>{t('payment.refund')}</a>
              ) : (
                t('app.none')
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      {paymentCount > payments.length && (
        <p class="hint">
          {t('payment.newestOf', { shown: payments.length, count: String(paymentCount) })}
        </p>
      )}
    </Card>
  );
}

function Refunds({ visit, charge: { refunds, refundCount } }: Props) {
  const { t } = visit;
  if (refunds.length === 0) return null;
  return (
    <Card title={t('payment.refunds')}>
      <DataTable
        visit={visit}
        name={t('payment.refunds')}
        columns={['payment.amount', 'payment.state', 'payment.requestedBy', 'payment.record']}
        numbers={['payment.amount']}
      >
        {refunds.map(({ id, amount, state, orderedBy, nsu }) => (
          <tr>
            <td class="number">
              <Amount cents={amount} />
            </td>
            <td>
              <RecordStateBadge
                visit={visit}
                list="payment.refundState"
                state={state}
                tone="plain"
              />
            </td>
            <td>{t(orderedBy === 'us' ? 'payment.byUs' : 'payment.byBank')}</td>
            <td>
              {orderedBy === 'us' ? (
                <a href={pathTo(visit, `refunds/${id}`)}>{t('payment.see.refund')}</a>
              ) : (
                <a href={pathTo(visit, `statement/${nsu}`)}>{t('payment.see.line')}</a>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      {refundCount > refunds.length && (
        <p class="hint">{t('payment.newestOf', { shown: refunds.length, count: refundCount })}</p>
      )}
    </Card>
  );
}
