// A charge or a static QR code: its facts, the codes to pay it with, its payments and refunds, and
// its story.
import { Controller } from '@nestjs/common';
import { printDay } from '../../brazil/printed-text.js';
import { ChargeChanges } from '../../outbound/charges/charge-changes.service.js';
import { ChargesService } from '../../outbound/charges/charges.service.js';
import { shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Amount, FactList, ButtonLink, Cards, Hint } from '../kit/elements.js';
import { CodesCard } from '../kit/codes-to-pay.js';
import { type ListColumns, TableCard } from '../kit/table.js';
import { Shown, type PageAnswer } from '../page.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { chargeFacts } from './charge-facts.js';
import { chargeTypeOf, codesOf, drawingsOf } from './payment-codes.js';
import { PaymentStories } from './payment-stories.service.js';
import {
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

  @ConsolePage('charges/:id', 'view')
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
    const codes = codesOf(charge);
    const body = (
      <>
        <OutcomeNotice operation={charge} />
        <Cards>
          <ChargeFacts charge={charge} />
          <CounterpartyCard title="word.payer" counterparty={counterparty} />
          <RelatedRecords
            links={[
              { label: 'word.operation', list: 'operations', id: operationId },
              {
                label: 'word.expectedPayment',
                list: 'expected-payments',
                id: expectedPaymentId,
              },
              ...story.breaks,
            ]}
          />
        </Cards>
        <ChargeSteps charge={charge} />
        <CodesCard
          {...{ codes, drawings: await drawingsOf(codes) }}
          isOpen={charge.settlement === 'open' || codes.digitableLine === null}
        />
        <Payments charge={charge} />
        <Refunds charge={charge} />
        <Story {...story} awaited={awaitedOf(charge, true)} />
        <Exchanged title="payment.response" value={shownResponse(charge, scopes)} />
      </>
    );
    return new Shown(visit.t('payment.charge', { id: correlationId }), body);
  }
}

interface Props {
  charge: Charge;
}

function ChargeFacts({ charge }: Props) {
  const { t, time } = useVisit();
  const { settlement, operationState } = charge;
  const { amountCents, dueDate, createdAt } = chargeFacts(charge);
  return (
    <FactList
      title="word.summary"
      facts={[
        ['word.settlement', <SettlementBadge of="charge" settlement={settlement} />],
        ['payment.request', <RecordStateBadge list="list.operationState" state={operationState} />],
        [
          'word.amount',
          amountCents === null ? t('payment.openAmount') : <Amount cents={amountCents} />,
        ],
        ['word.type', t(chargeTypeOf(charge))],
        ['word.dueDate', dueDate === null ? t('app.none') : printDay(dueDate)],
        ...earlierDueDates(charge).map(({ dueDate, until }): [TextKey, string] => [
          'payment.earlierDueDate',
          t('payment.dueUntil', { day: printDay(dueDate), until: time(until) }),
        ]),
        ['word.createdAt', time(createdAt)],
        ['referenceKind.correlation_id', <Identifier text={charge.correlationId} />],
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

function ChargeSteps({ charge }: Props) {
  const visit = useVisit();
  const { settlement, operationState, correlationId, cancelledAt } = charge;
  const isOpen = settlement === 'open' || settlement === 'expired';
  const mayVoid = isOpen && cancelledAt === null && operationState === 'succeeded';
  if (!mayVoid || !visit.may('request payments')) return null;
  return (
    <Steps>
      <ButtonLink is="plain" href={`${pathOfRecord(visit, 'charges', correlationId)}/void`}>
        {visit.t('payment.void')}
      </ButtonLink>
    </Steps>
  );
}

function Payments({ charge: { payments, paymentCount } }: Props) {
  const { t, to, may } = useVisit();
  const mayRefund = may('request payments');
  return (
    <TableCard
      {...{ title: 'payment.payments', rows: payments, empty: 'payment.payments.empty' }}
      columns={{
        'word.when': { at: ({ occurredAt }) => occurredAt },
        ...amountColumn,
        'word.nsu': ({ nsu }) => <a href={to(`statement/${nsu}`)}>{nsu.toString()}</a>,
        'payment.steps': ({ nsu, endToEndId }) =>
          mayRefund && endToEndId?.startsWith('E') ? (
            <a href={to(`refunds/new/${nsu}`)}>{t('payment.refund')}</a>
          ) : null,
      }}
    >
      {paymentCount > payments.length && (
        <Hint isBlock>
          {t('payment.newestOf', { shown: payments.length, count: String(paymentCount) })}
        </Hint>
      )}
    </TableCard>
  );
}

const amountColumn: ListColumns<{ amount: bigint }> = {
  'word.amount': { cents: ({ amount }) => amount },
};

function Refunds({ charge: { refunds, refundCount } }: Props) {
  const { t, to } = useVisit();
  if (refunds.length === 0) return null;
  return (
    <TableCard
      {...{ title: 'search.refunds', rows: refunds }}
      columns={{
        ...amountColumn,
        'word.status': ({ state }) => (
          <RecordStateBadge {...{ state, list: 'list.sentState', tone: 'plain' }} />
        ),
        'word.requestedBy': ({ orderedBy }) =>
          t(orderedBy === 'us' ? 'payment.byUs' : 'payment.byBank'),
        'word.record': ({ orderedBy, id, nsu }) =>
          orderedBy === 'us' ? (
            <a href={to(`refunds/${id}`)}>{t('payment.see.refund')}</a>
          ) : (
            <a href={to(`statement/${nsu}`)}>{t('payment.see.line')}</a>
          ),
      }}
    >
      {refundCount > refunds.length && (
        <Hint isBlock>{t('payment.newestOf', { shown: refunds.length, count: refundCount })}</Hint>
      )}
    </TableCard>
  );
}
