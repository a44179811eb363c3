// Reads expected payments with the facts that decisions are computed from: their operations, what
// the bank and people said about them, and their references.
import {
  accountColumn,
  opaqueAccountId,
  opaqueArray,
  type Reader,
} from '../../platform/postgres/database.service.js';
import type { WithdrawalKind } from '../../statement/expected-payments/facts.js';
import {
  dueDatesColumn,
  readDueDates,
  type StoredDueDates,
} from '../../statement/expected-payments/due-dates.queries.js';
import { toCoding } from '../../statement/expected-payments/coding.js';
import { acceptedAmounts } from '../../statement/expected-payments/declared-terms.js';
import { metadataColumn } from '../../statement/expected-payments/metadata.queries.js';
import { storedParts } from '../../statement/expected-payments/payment-parts.js';
import type { Reference, ReferenceKind } from '../../statement/expected-payments/references.js';
import { z } from 'zod';
import { Prisma, type ExpectedPaymentFactKind } from '../../generated/service/client.js';
import { effectsOfOperations, isWithoutResponse, type LoadOptions } from './component.queries.js';
import type { DeclaredFacts } from '../decide/declared-conditions.js';
import type {
  BillFacts,
  ChargeFacts,
  ExpectedPaymentFacts,
  TransferFacts,
} from '../decide/model.js';

/** A payment with what the search for its component needs. */
export interface LoadedPayment extends ExpectedPaymentFacts {
  /** Its operation was given up or detached: a debit without its ids may still be its payment. */
  isDetached: boolean;
  hasFacts: boolean;
  /** It was rejected at some time. */
  wasRejected: boolean;
}

type ExpectedPaymentRow = Omit<
  ExpectedPaymentFacts,
  | ('effect' | 'charge' | 'transfer' | 'bill' | 'references' | 'withdrawal')
  | ('accepted' | 'declared' | 'dueDates')
> & {
  dueDates: StoredDueDates;
  isDetached: boolean;
  /** Of each reference its kind, a space and its value. */
  references: string[] | null;
  /** Of each of its facts the sequence, a space and the kind. */
  facts: string[] | null;
  chargeCorrelationId: string | null;
  chargeType: string | null;
  transferId: string | null;
  transferEndToEndId: string | null;
  billState: string | null;
  /** The terms of a declared payment. */
  externalId: string | null;
  amountFromCents: bigint | null;
  amountToCents: bigint | null;
  toleranceCents: bigint;
  leastCents: bigint | null;
  mostCents: bigint | null;
  dateFrom: string | null;
  dateTo: string | null;
  textPattern: string | null;
  category: string | null;
  costCentre: string | null;
  project: string | null;
  parts: unknown;
  declaredCancelledAt: Date | null;
} & Omit<ChargeFacts, 'correlationId' | 'type'> &
  Omit<TransferFacts, 'id' | 'endToEndId' | 'externalId'> & {
    transferExternalId: string | null;
  } & Omit<BillFacts, 'state'>;

const operationFields =
  'id, state, response_status, is_detached, effective_from, ended_at, created_at';
const chargeFields = 'correlation_id, type, cancelled_at, expired_at';
const transferFields = 'id, external_id, end_to_end_id, error_code, state, updated_at';
const billFields =
  'account_id, id, bar_code, state, bank_id, bank_status, scheduled_for, may_go_until, freed_at, ' +
  'minimum_cents, maximum_cents';

const chargeColumns = Prisma.sql`
  c.correlation_id AS "chargeCorrelationId", c.type AS "chargeType",
  c.cancelled_at, c.expired_at`;

const declaredColumns = Prisma.sql`
  e.external_id, e.amount_from_cents, e.amount_to_cents, e.tolerance_cents, e.least_cents,
  e.most_cents, to_char(e.date_from, 'YYYY-MM-DD') AS date_from,
  to_char(e.date_to, 'YYYY-MM-DD') AS date_to, e.text_pattern, e.category, e.cost_centre,
  e.project, e.parts,
  e.cancelled_at AS "declaredCancelledAt"`;

const transferColumns = (freshMs: number) => Prisma.sql`
  t.id AS "transferId", t.external_id AS "transferExternalId",
  t.end_to_end_id AS "transferEndToEndId", t.error_code,
  CASE WHEN t.state = 'failed' THEN
    CASE WHEN t.updated_at > clock_timestamp() - ${freshMs} * interval '1 millisecond'
         THEN 'recent' ELSE 'past' END
  END AS failure`;

const billColumns = Prisma.sql`
  p.state AS "billState", p.bank_id, p.bank_status,
  p.scheduled_for, p.may_go_until, p.minimum_cents, p.maximum_cents,
  p.freed_at IS NOT NULL AS "isFreed",
  p.id IS NOT NULL AND EXISTS (
    SELECT FROM bill_payment other
    WHERE other.account_id = p.account_id AND other.bar_code = p.bar_code AND other.id <> p.id
      AND other.state <> 'failed' AND other.state <> 'rejected' AND other.freed_at IS NULL
  ) AS "hasOtherLive"`;

/**
 * A row of a payment (e) in another table, by its index, whatever the statistics say. Its columns
 * are named, because each takes time to plan.
 */
const one = (table: string, alias: string, columns: string, condition: Prisma.Sql) => Prisma.sql`
  LEFT JOIN LATERAL (
    SELECT ${Prisma.raw(columns)} FROM ${Prisma.raw(table)}
    WHERE account_id = account.id AND ${condition} OFFSET 0
  ) ${Prisma.raw(alias)} ON true`;

/** With all their references, also with those that name too many payments. */
export async function listPaymentFacts(
  db: Reader,
  accountId: number,
  { effectMs, freshMs }: LoadOptions,
  ids: readonly string[] | 'all',
): Promise<LoadedPayment[]> {
  if (ids.length === 0) return [];
  const payments =
    ids === 'all'
      ? Prisma.sql`JOIN expected_payment e ON e.account_id = ${opaqueAccountId(accountId)}`
      : Prisma.sql`CROSS JOIN unnest(${opaqueArray(ids, 'uuid')}) AS wanted(id)
          CROSS JOIN LATERAL (
            SELECT * FROM expected_payment
            WHERE account_id = account.id AND id = wanted.id OFFSET 0
          ) e`;
  const isOfPayment = Prisma.sql`expected_payment_id = e.id`;
  const ofDebit = Prisma.sql`NOT e.is_credit AND ${isOfPayment}`;
  const rows = await db.$queryRaw<ExpectedPaymentRow[]>`
    SELECT e.id, e.operation_id, e.kind, e.is_credit, e.amount_cents, e.due_date, e.terms,
           ${dueDatesColumn(Prisma.sql`account.id`)} AS due_dates,
           e.is_multi_use, e.counterparty_document,
           e.created_at, e.withdrawn_at IS NOT NULL AS "isWithdrawn",
           COALESCE(e.created_at_bank_time, e.created_at + clock.ahead) AS "createdAtBankTime",
           known.list AS "references", o.state AS "operationState",
           COALESCE(${isWithoutResponse}, false) AS "isWithoutResponse",
           COALESCE(o.is_detached, false) AS "isDetached",
           CASE WHEN NOT e.is_credit THEN
             GREATEST(o.effective_from, p.scheduled_for, o.ended_at + COALESCE(
               attempt.clock_offset_ms * interval '1 millisecond', clock.ahead))
           END AS "effectiveAt",
           fact.list AS facts, r.original_nsu AS "refundOfNsu",
           ${metadataColumn(Prisma.sql`account.id`, Prisma.sql`e.id`)} AS metadata,
           ${chargeColumns}, ${transferColumns(freshMs)}, ${billColumns}, ${declaredColumns}
    FROM ${accountColumn(accountId)}
    CROSS JOIN LATERAL (
      -- What was recorded before the first sync goes by the offset that it measured.
      SELECT COALESCE(max(first_clock_offset_ms), 0) * interval '1 millisecond' AS ahead
      FROM statement_state WHERE account_id = account.id
    ) clock
    ${payments}
    ${one('operation', 'o', operationFields, Prisma.sql`id = e.operation_id`)}
    ${one('charge', 'c', chargeFields, Prisma.sql`e.is_credit AND ${isOfPayment}`)}
    ${one('refund', 'r', 'original_nsu', ofDebit)}
    ${one('transfer', 't', transferFields, ofDebit)}
    ${one('bill_payment', 'p', billFields, ofDebit)}
    LEFT JOIN LATERAL (
      SELECT clock_offset_ms FROM (
        SELECT number, clock_offset_ms FROM operation_attempt
        WHERE NOT e.is_credit AND account_id = account.id AND operation_id = e.operation_id OFFSET 0
      ) made ORDER BY number DESC LIMIT 1
    ) attempt ON true
    CROSS JOIN LATERAL (
      SELECT json_agg(kind || ' ' || value) AS list FROM (
        SELECT kind, value FROM expected_payment_reference
        WHERE account_id = account.id AND ${isOfPayment} OFFSET 0
      ) reference
    ) known
    CROSS JOIN LATERAL (
      SELECT json_agg(sequence || ' ' || kind) AS list FROM (
        SELECT kind, sequence FROM expected_payment_fact
        WHERE account_id = account.id AND ${isOfPayment} OFFSET 0
      ) known_fact
    ) fact`;
  const loaded = rows.map(toLoadedPayment);
  await addEffects(db, accountId, effectMs, loaded);
  return loaded;
}

/** When the money of debits without a response can have moved. */
async function addEffects(
  db: Reader,
  accountId: number,
  boundMs: number,
  payments: readonly LoadedPayment[],
): Promise<void> {
  const unconfirmed = payments.filter((one) => !one.isCredit && one.isWithoutResponse);
  const ids = [...new Set(unconfirmed.flatMap(({ operationId }) => operationId ?? []))];
  const effects = await effectsOfOperations(db, accountId, ids, boundMs);
  for (const payment of unconfirmed)
    payment.effect = effects.get(payment.operationId ?? '') ?? null;
}

function toReference(text: string): Reference {
  const end = text.indexOf(' ');
  return { kind: text.slice(0, end) as ReferenceKind, value: text.slice(end + 1) };
}

/** Names each field: copies of what is left over take a hundred times as long. */
function toLoadedPayment(row: ExpectedPaymentRow): LoadedPayment {
  const kinds = factKindsOf(row.facts ?? []);
  return {
    id: row.id,
    operationId: row.operationId,
    kind: row.kind,
    isCredit: row.isCredit,
    amountCents: row.amountCents,
    dueDate: row.dueDate,
    dueDates: readDueDates(row.dueDates),
    terms: row.terms,
    isMultiUse: row.isMultiUse,
    counterpartyDocument: row.counterpartyDocument,
    createdAt: row.createdAt,
    createdAtBankTime: row.createdAtBankTime,
    references: row.references?.map(toReference) ?? [],
    operationState: row.operationState,
    isWithoutResponse: row.isWithoutResponse,
    effect: null,
    withdrawal: withdrawalOf(kinds),
    isWithdrawn: row.isWithdrawn,
    effectiveAt: row.effectiveAt,
    refundOfNsu: row.refundOfNsu,
    metadata: row.metadata,
    charge: chargeOf(row),
    transfer: transferOf(row),
    bill: billOf(row),
    accepted: row.externalId === null ? null : acceptedAmounts(row),
    declared: declaredOf(row),
    isDetached: row.isDetached,
    hasFacts: kinds.length > 0,
    wasRejected: kinds.includes('rejected'),
  };
}

/** In the order of the sequences. PostgreSQL would sort those of each payment on their own. */
function factKindsOf(facts: readonly string[]): ExpectedPaymentFactKind[] {
  return facts
    .map((fact) => fact.split(' '))
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, kind]) => kind as ExpectedPaymentFactKind);
}

/** The last fact that says that no payment is expected; a revocation by a line is left out. */
function withdrawalOf(kinds: readonly ExpectedPaymentFactKind[]): WithdrawalKind | null {
  const last = kinds.filter((kind) => kind !== 'absence_revoked').at(-1);
  return last === undefined || last === 'expected_again' ? null : last;
}

function chargeOf(row: ExpectedPaymentRow): ChargeFacts | null {
  const { chargeCorrelationId: correlationId, chargeType: type } = row;
  if (correlationId === null || type === null) return null;
  const { cancelledAt, expiredAt } = row;
  return { correlationId, type, cancelledAt, expiredAt };
}

function transferOf(row: ExpectedPaymentRow): TransferFacts | null {
  const { transferId: id, transferExternalId: externalId, transferEndToEndId: endToEndId } = row;
  const { errorCode, failure } = row;
  return id === null ? null : { id, externalId, endToEndId, errorCode, failure };
}

function billOf(row: ExpectedPaymentRow): BillFacts | null {
  const { billState: state, bankId, bankStatus, scheduledFor, mayGoUntil } = row;
  if (state === null) return null;
  const { isFreed, hasOtherLive, minimumCents, maximumCents } = row;
  const dates = { scheduledFor, mayGoUntil };
  return { state, bankId, bankStatus, ...dates, isFreed, hasOtherLive, minimumCents, maximumCents };
}

function declaredOf(row: ExpectedPaymentRow): DeclaredFacts | null {
  const { externalId, dateFrom, dateTo, leastCents, mostCents } = row;
  if (externalId === null || dateFrom === null || dateTo === null) return null;
  const matching =
    leastCents === null || mostCents === null
      ? null
      : { fromCents: leastCents, toCents: mostCents };
  const { textPattern: text, declaredCancelledAt: cancelledAt } = row;
  const parts = z.decode(storedParts, row.parts as never);
  return { externalId, matching, dateFrom, dateTo, text, ...toCoding(row), parts, cancelledAt };
}
