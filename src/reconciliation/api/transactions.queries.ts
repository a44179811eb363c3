// Reads lines and expected payments with their states, which reconciliation stores.
import type { z } from 'zod';
import type { Db } from '../../database.service.js';
import { referenceKinds } from '../../expected-payments/references.js';
import { Prisma, type StatementLine } from '../../generated/service/client.js';
import { explainingBreakKinds } from '../decide/break-kinds.js';
import type { expectedPaymentView, transactionView } from './transactions.schema.js';

/**
 * Whether a break makes its line count as in a break, even if the line is matched. Reads only the
 * columns of the break.
 */
export const explainsItsLine = Prisma.sql`state = 'open'
  AND kind = ANY (${[...explainingBreakKinds]}::text[])`;

/** The state of a line (t). A line without an outcome is not decided yet. */
export const stateOfLine = Prisma.sql`COALESCE(
  (SELECT o.state FROM line_outcome o WHERE o.account_id = t.account_id AND o.nsu = t.nsu),
    'pending')`;

type Transaction = z.output<typeof transactionView>;
type TransactionRow = Omit<Transaction, 'amount' | 'type' | 'balance' | 'explanation'> &
  Transaction['explanation'] &
  Pick<
    StatementLine,
    'amountCents' | 'typeName' | 'isCredit' | 'balancePreviousCents' | 'currentBalanceCents'
  >;

interface TransactionFilters {
  nsu?: bigint | null;
  reference?: string | null;
  state?: string | null;
  isCredit?: boolean | null;
  /** The bounds of the bank's day; `until` is exclusive. */
  from?: Date | null;
  until?: Date | null;
  beforeNsu?: bigint | null;
  limit: number;
}

/** A query of the few nsus that the filters can select, or null when all lines must be read. */
function candidateNsus(
  accountId: number,
  { nsu, reference, state }: TransactionFilters,
): Prisma.Sql | null {
  if (nsu != null) return null;
  // One query per id, each with its own index.
  if (reference != null)
    return Prisma.sql`
      SELECT nsu FROM statement_line WHERE account_id = ${accountId}
        AND correlation_id = ${reference}
      UNION SELECT nsu FROM statement_line WHERE account_id = ${accountId}
        AND end_to_end_id = ${reference}
      UNION SELECT nsu FROM statement_line WHERE account_id = ${accountId}
        AND external_id = ${reference}`;
  if (state === 'pending')
    return Prisma.sql`
      SELECT nsu FROM statement_line
      WHERE account_id = ${accountId}
        AND arrival <= (SELECT max(arrival) FROM statement_line WHERE account_id = ${accountId})
        AND arrival > COALESCE((SELECT decided_arrival FROM reconciliation_state
          WHERE account_id = ${accountId}), 0)
      UNION SELECT nsu FROM line_outcome WHERE account_id = ${accountId} AND state = 'pending'`;
  if (state === 'in_break')
    return Prisma.sql`SELECT nsu FROM line_outcome WHERE account_id = ${accountId}
      AND state = 'in_break'`;
  return null;
}

export async function listTransactionRows(
  db: Db,
  accountId: number,
  filters: TransactionFilters,
): Promise<TransactionRow[]> {
  const { nsu = null, reference = null, state = null, isCredit = null } = filters;
  const { from = null, until = null, beforeNsu = null, limit } = filters;
  const few = candidateNsus(accountId, filters);
  // Looked up one by one, newest first, until the page is full.
  const lines = few
    ? Prisma.sql`(
      SELECT nsu FROM (${few}) found
      WHERE ${beforeNsu}::bigint IS NULL OR nsu < ${beforeNsu}::bigint ORDER BY nsu DESC OFFSET 0
    ) candidate
    CROSS JOIN LATERAL (
      SELECT * FROM statement_line WHERE account_id = ${accountId} AND nsu = candidate.nsu OFFSET 0
    ) t`
    : Prisma.sql`statement_line t`;
  return db.$queryRaw<TransactionRow[]>`
    SELECT t.nsu, t.amount_cents, t.type_name, t.is_credit, t.correlation_id, t.end_to_end_id,
      t.external_id, t.notes, t.balance_previous_cents, t.current_balance_cents, t.occurred_at,
           t.recorded_at, x.*
    FROM ${lines}
    CROSS JOIN LATERAL (
      SELECT ${stateOfLine} AS state,
             COALESCE(m.rule, c.rule, CASE WHEN b.explains THEN b.kind END) AS rule,
             COALESCE(m.evidence, c.evidence, CASE WHEN b.explains THEN b.evidence END) AS evidence,
             CASE WHEN b.explains THEN b.kind END AS "breakKind",
             CASE WHEN b.explains THEN b.evidence END AS "breakEvidence",
             CASE WHEN m.rule IS NULL THEN c.category END AS category,
             CASE WHEN m.rule IS NULL THEN c.rule_id ELSE m.rule_id END AS "ruleId",
             CASE WHEN m.rule IS NULL THEN c.rule_version ELSE m.rule_version END AS "ruleVersion",
             COALESCE(m.ids, '{}') AS "expectedPaymentIds", b.id AS "breakId"
      FROM (SELECT 1) one
      LEFT JOIN LATERAL (
        SELECT min(rule) AS rule, (array_agg(evidence ORDER BY expected_payment_id))[1] AS evidence,
               (array_agg(rule_id))[1] AS rule_id, (array_agg(rule_version))[1] AS rule_version,
               array_agg(expected_payment_id::text ORDER BY expected_payment_id) AS ids
        FROM match WHERE account_id = t.account_id AND nsu = t.nsu AND unlinked_at IS NULL
      ) m ON true
      LEFT JOIN classification c ON c.account_id = t.account_id AND c.nsu = t.nsu
      LEFT JOIN LATERAL (
        SELECT id, kind, evidence, ${explainsItsLine} AS explains FROM break
        WHERE account_id = t.account_id AND nsu = t.nsu
        ORDER BY (${explainsItsLine}) DESC, state = 'open' DESC, opened_at DESC LIMIT 1
      ) b ON true
    ) x
    WHERE t.account_id = ${accountId}
      AND (${nsu}::bigint IS NULL OR t.nsu = ${nsu}::bigint)
      AND (${beforeNsu}::bigint IS NULL OR t.nsu < ${beforeNsu}::bigint)
      AND (${isCredit}::boolean IS NULL OR t.is_credit = ${isCredit}::boolean)
      AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)
      AND (${until}::timestamptz IS NULL OR t.occurred_at < ${until}::timestamptz)
      AND (${reference}::text IS NULL
           OR ${reference} IN (t.correlation_id, t.end_to_end_id, t.external_id))
      AND (${state}::text IS NULL OR x.state = ${state})
    ORDER BY ${few ? Prisma.sql`candidate.nsu` : Prisma.sql`t.nsu`} DESC LIMIT ${limit}`;
}

type ListedPayment = Omit<
  z.output<typeof expectedPaymentView>,
  'amount' | 'settledAmount' | 'returnedAmount'
> & {
  amountCents: bigint | null;
  settledCents: bigint;
  /** Refunded to the payer, or reversed by the bank. */
  returnedCents: bigint;
};

interface ExpectedPaymentFilters {
  state?: string | null;
  reference?: string | null;
  operationId?: string | null;
  beforeId: string | null;
  /** The current day at the bank: open payments whose last payment day is past are overdue. */
  today: string;
  limit: number;
}

/**
 * A settlement other than `open` stands in the total of the payment. An overdue payment is an open
 * one, and so is a payment without a total: it was recorded just now.
 */
const hasSettlement = (state: string) =>
  state === 'open' || state === 'overdue'
    ? Prisma.sql`COALESCE(total.settlement, 'open') = 'open'`
    : Prisma.sql`total.settlement = ${state}`;

export async function listExpectedPaymentRows(
  db: Db,
  accountId: number,
  filters: ExpectedPaymentFilters,
): Promise<ListedPayment[]> {
  const { state = null, reference = null, operationId = null, beforeId, today, limit } = filters;
  const withReference = Prisma.sql`AND e.id IN (
    SELECT expected_payment_id FROM expected_payment_reference
    WHERE account_id = ${accountId} AND kind = ANY (${[...referenceKinds]}::text[])
      AND value = ${reference})`;
  const inState = Prisma.sql`AND ${hasSettlement(state ?? '')} AND x.state = ${state}`;
  return db.$queryRaw<ListedPayment[]>`
    SELECT e.id, e.operation_id, e.kind, x.state, e.is_credit,
           e.amount_cents, COALESCE(total.paid_cents, 0) AS "settledCents",
           CASE WHEN e.is_credit THEN COALESCE(total.refunded_cents, 0)
                ELSE COALESCE(total.reversed_cents, 0) END AS "returnedCents",
           e.due_date, e.is_multi_use, e.created_at, reference.list AS "references"
    FROM expected_payment e
    LEFT JOIN expected_payment_total total
      ON total.account_id = e.account_id AND total.expected_payment_id = e.id
    CROSS JOIN LATERAL (
      SELECT COALESCE(jsonb_agg(jsonb_build_object('kind', kind, 'value', value)), '[]') AS list
      FROM expected_payment_reference WHERE account_id = e.account_id AND expected_payment_id = e.id
    ) reference
    CROSS JOIN LATERAL (
      SELECT CASE WHEN total.settlement = 'open' AND total.last_payment_day < ${today}
                  THEN 'overdue'
                  ELSE COALESCE(total.settlement, 'open')::text END AS state
    ) x
    WHERE e.account_id = ${accountId}
      AND (${beforeId}::uuid IS NULL OR e.id < ${beforeId}::uuid)
      AND (${operationId}::uuid IS NULL OR e.operation_id = ${operationId}::uuid)
      ${state === null ? Prisma.empty : inState}
      ${reference === null ? Prisma.empty : withReference}
    ORDER BY e.id DESC LIMIT ${limit}`;
}
