// The page of a payment that we sent: the same parts for a transfer, a bill payment and a refund.
import type { ComponentChildren, JSX } from 'preact';
import type { Counterparty } from '../../access/counterparties/resolution.js';
import type { Cents } from '../../brazil/cents.js';
import { Amount, FactList, type Tone } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import type { Visit } from '../requests.js';
import type { TextKey } from '../texts.js';
import type { ComposedStory } from './payment-stories.service.js';
import {
  CounterpartyCard,
  Exchanged,
  Identifier,
  OutcomeNotice,
  RelatedRecords,
  SettlementBadge,
  RecordStateBadge,
  type RelatedLink,
} from './record-page.js';
import { Story } from './story-timeline.js';
import { awaitedOf } from './story.js';

interface SentRecord {
  /** Which list of texts names its states. */
  list: 'transferState' | 'billState' | 'refundState';
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
  visit: Visit;
  record: SentRecord;
}

export function SentMoneyPage({
  visit,
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
}): JSX.Element {
  return (
    <>
      <OutcomeNotice visit={visit} operation={record} />
      <div class="cards">
        <SentFacts visit={visit} record={record} />
        <FactList
          visit={visit}
          title="payment.identifiers"
          facts={identifiers.map(([key, text]) => [key, <Identifier text={text} />])}
        />
        <CounterpartyCard visit={visit} title="payment.payee" counterparty={counterparty} />
        <RelatedRecords visit={visit} links={[...related, ...linksOf(record), ...story.breaks]} />
      </div>
      {children}
      <Story visit={visit} {...story} awaited={awaitedOf(record)} />
      <Exchanged visit={visit} title="payment.response" value={response} />
    </>
  );
}

function linksOf({ operationId, expectedPaymentId, nsu, reversals }: SentRecord): RelatedLink[] {
  const line = (label: TextKey, id: bigint) => ({ label, list: 'statement', id: id.toString() });
  return [
    { label: 'payment.operation', list: 'operations', id: operationId },
    { label: 'payment.expectedPayment', list: 'expected-payments', id: expectedPaymentId },
    ...(nsu === null ? [] : [line('payment.debit', nsu)]),
    ...reversals.slice(0, 5).map((reversal) => line('payment.reversal', reversal.nsu)),
  ];
}

function SentFacts({ visit, record }: Props) {
  const { t, language } = visit;
  const { list, state, operationState, settlement, amount, createdAt, scheduledFor } = record;
  const { bankStatus, errorCode } = record;
  return (
    <FactList
      visit={visit}
      title="payment.facts"
      facts={[
        ['payment.settlement', <SettlementBadge visit={visit} settlement={settlement} />],
        [
          'payment.state',
          <RecordStateBadge
            visit={visit}
            list={`payment.${list}`}
            state={state}
            tone={toneOfRecord(state)}
          />,
        ],
        [
          'payment.request',
          <RecordStateBadge visit={visit} list="payment.operation" state={operationState} />,
        ],
        ['payment.amount', <Amount cents={amount} />],
        ['payment.createdAt', formatTime(createdAt, language)],
        ...(scheduledFor
          ? [['payment.scheduledFor', formatTime(scheduledFor, language)] as const]
          : []),
        ...(bankStatus ? [['payment.bankStatus', <Identifier text={bankStatus} />] as const] : []),
        ...(errorCode ? [['payment.errorCode', <Identifier text={errorCode} />] as const] : []),
        ['payment.nsu', record.nsu?.toString() ?? t('app.none')],
      ]}
    />
  );
}

function toneOfRecord(state: string): Tone {
  if (state === 'effective' || state === 'paid' || state === 'accepted') return 'good';
  return state === 'failed' || state === 'rejected' ? 'bad' : 'plain';
}
