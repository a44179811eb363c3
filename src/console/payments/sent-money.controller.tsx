// A transfer, a bill payment or a refund: money that we sent, or are about to send, with its story.
import { Controller } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { Cents } from '../../brazil/cents.js';
import { BillPaymentViews } from '../../outbound/bill-payments/bill-payment-views.service.js';
import { shownResponse } from '../../access/counterparties/counterparty.schema.js';
import { RefundViews } from '../../outbound/refunds/refund-views.service.js';
import { TransferViews } from '../../outbound/transfers/transfer-views.service.js';
import { ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { formatAmount } from '../formats.js';
import { CodesCard } from '../kit/codes-to-pay.js';
import { Amount, FactList, Cards, type Tone } from '../kit/elements.js';
import { Shown, type PageAnswer } from '../page.js';
import { callerOf, useVisit, type Visit } from '../visit.js';
import type { TextKey } from '../texts.js';
import { drawingsOf, billCodes } from './payment-codes.js';
import { PaymentStories, type ComposedStory } from './payment-stories.service.js';
import {
  CounterpartyCard,
  Exchanged,
  Identifier,
  OutcomeNotice,
  recordId,
  RecordStateBadge,
  RelatedRecords,
  SettlementBadge,
  type RelatedLink,
} from './record-page.js';
import { awaitedOf } from './story.js';
import { Story } from './story-timeline.js';

@Controller()
export class SentMoneyPages {
  constructor(
    private readonly transfers: TransferViews,
    private readonly bills: BillPaymentViews,
    private readonly refunds: RefundViews,
    private readonly stories: PaymentStories,
  ) {}

  @ConsolePage('transfers/:id', 'view')
  async transfer(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const transfer = await this.transfers.get(accountId, recordId(visit));
    const { id, operationId, expectedPaymentId, endToEndId } = transfer;
    const story = await this.stories.compose(visit, {
      operationIds: [operationId],
      expectedPaymentIds: [expectedPaymentId],
      resources: resourcesOf('transfer', id, operationId),
      endToEndIds: [endToEndId],
    });
    return new Shown(
      visit.t('payment.transfer', { amount: formatAmount(transfer.amount) }),
      <SentMoneyPage
        record={{ ...transfer, operationId }}
        identifiers={[
          ['payment.id', id],
          ['payment.endToEndId', endToEndId],
          ['referenceKind.external_id', transfer.externalId],
          ['payment.bankId', transfer.bankId],
        ]}
        counterparty={await this.stories.findExpectedParty(visit, expectedPaymentId)}
        story={story}
        response={shownResponse(transfer.response, scopes)}
      />,
    );
  }

  @ConsolePage('bills/:id', 'view')
  async bill(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const bill = await this.bills.get(accountId, recordId(visit));
    const { id, expectedPaymentId, barCode } = bill;
    const story = await this.stories.compose(visit, {
      operationIds: [id],
      expectedPaymentIds: [expectedPaymentId],
      resources: resourcesOf('bill_payment', id, id),
    });
    const codes = { ...billCodes(barCode), pixCode: null };
    return new Shown(
      visit.t('payment.bill', { amount: formatAmount(bill.amount) }),
      <SentMoneyPage
        record={{ ...bill, operationId: id }}
        identifiers={[
          ['payment.id', id],
          ['payment.bankId', bill.bankId],
        ]}
        counterparty={await this.stories.findExpectedParty(visit, expectedPaymentId)}
        story={story}
        response={shownResponse(bill.response, scopes)}
      >
        <CodesCard title="payment.billCode" codes={codes} drawings={await drawingsOf(codes)} />
      </SentMoneyPage>,
    );
  }

  @ConsolePage('refunds/:id', 'view')
  async refund(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { accountId, scopes } = callerOf(visit);
    const refund = await this.refunds.get(accountId, recordId(visit));
    const { id, expectedPaymentId, endToEndId, originalNsu } = refund;
    const story = await this.stories.compose(visit, {
      operationIds: [id],
      expectedPaymentIds: [expectedPaymentId],
      resources: resourcesOf('refund', id, id),
      endToEndIds: [endToEndId],
      originalNsu,
    });
    const original = { label: 'payment.original', list: 'statement' } as const;
    return new Shown(
      visit.t('payment.refundOf', { amount: formatAmount(refund.amount) }),
      <SentMoneyPage
        record={{ ...refund, operationId: id }}
        identifiers={[
          ['payment.id', id],
          ['payment.endToEndId', endToEndId],
        ]}
        related={[{ ...original, id: originalNsu.toString() }]}
        counterparty={await this.stories.findPartyOfLine(visit, originalNsu)}
        story={story}
        response={shownResponse(refund.response, scopes)}
      />,
    );
  }
}

function resourcesOf(kind: string, id: string, operationId: string) {
  return [
    { kind, id },
    { kind: 'operation', id: operationId },
  ];
}

interface SentRecord {
  /** Which list of texts names its states. */
  state: string;
  operationId: string;
  operationState: string;
  expectedPaymentId: string;
  settlement: string;
  amount: Cents;
  /** Of the debit. */
  nsu: bigint | null;
  createdAt: Date;
  bankStatus?: string | null;
  errorCode?: string | null;
  scheduledFor?: Date | null;
  reversals: readonly { nsu: bigint; amount: Cents }[];
}

interface Props {
  record: SentRecord;
}

function SentMoneyPage({
  record,
  identifiers,
  related = [],
  counterparty,
  story,
  response,
  children,
}: Props & {
  identifiers: readonly (readonly [TextKey, string | null])[];
  related?: readonly RelatedLink[];
  counterparty: Counterparty;
  story: ComposedStory;
  response: unknown;
  children?: ComponentChildren;
}) {
  return (
    <>
      <OutcomeNotice operation={record} />
      <Cards>
        <SentFacts record={record} />
        <FactList
          title="payment.identifiers"
          facts={identifiers.map(([key, text]) => [key, <Identifier text={text} />])}
        />
        <CounterpartyCard title="word.counterparty" counterparty={counterparty} />
        <RelatedRecords links={[...related, ...linksOf(record), ...story.breaks]} />
      </Cards>
      {children}
      <Story {...story} awaited={awaitedOf(record)} />
      <Exchanged title="payment.response" value={response} />
    </>
  );
}

function linksOf({ operationId, expectedPaymentId, nsu, reversals }: SentRecord): RelatedLink[] {
  const line = (label: TextKey, id: bigint) => ({ label, list: 'statement', id: id.toString() });
  return [
    { label: 'word.operation', list: 'operations', id: operationId },
    { label: 'word.expectedPayment', list: 'expected-payments', id: expectedPaymentId },
    ...(nsu === null ? [] : [line('payment.debit', nsu)]),
    ...reversals.slice(0, 5).map((reversal) => line('payment.reversal', reversal.nsu)),
  ];
}

function SentFacts({ record }: Props) {
  const { t, time } = useVisit();
  const { state, operationState, settlement, amount, createdAt, scheduledFor } = record;
  const { bankStatus, errorCode } = record;
  return (
    <FactList
      title="word.summary"
      facts={[
        ['word.settlement', <SettlementBadge of="sent" settlement={settlement} />],
        [
          'word.status',
          <RecordStateBadge list="list.sentState" state={state} tone={toneOfRecord(state)} />,
        ],
        ['payment.request', <RecordStateBadge list="list.operationState" state={operationState} />],
        ['word.amount', <Amount cents={amount} />],
        ['word.createdAt', time(createdAt)],
        ...(scheduledFor ? [['payment.scheduledFor', time(scheduledFor)] as const] : []),
        ...(bankStatus ? [['payment.bankStatus', <Identifier text={bankStatus} />] as const] : []),
        ...(errorCode ? [['payment.errorCode', <Identifier text={errorCode} />] as const] : []),
        ['word.nsu', record.nsu?.toString() ?? t('app.none')],
      ]}
    />
  );
}

function toneOfRecord(state: string): Tone {
  if (state === 'effective' || state === 'paid' || state === 'accepted') return 'good';
  return state === 'failed' || state === 'rejected' ? 'bad' : 'plain';
}
