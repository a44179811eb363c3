// Reads lines and expected payments with their states, which reconciliation stores.
import type { z } from 'zod';
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { foundRows, ordering, type RowOfPage } from '../../platform/http/examined-ids.queries.js';
import { mostCounted, toTotal, type ListTotal, type Order } from '../../platform/http/listing.js';
import {
  findByMetadata,
  metadataColumn,
} from '../../statement/expected-payments/metadata.queries.js';
import type { MetadataText } from '../../statement/expected-payments/metadata.js';
import { referenceKinds } from '../../statement/expected-payments/references.js';
import { Prisma, type StatementLine } from '../../generated/service/client.js';
import { explainsItsLine } from '../load/line-leaves.queries.js';
import { spanOfDays, statementDay } from './statement-days.queries.js';
import type { expectedPaymentView, transactionView } from './transactions.schema.js';

/** The state of a line (t). A line without an outcome is not decided yet. */
export const stateOfLine = Prisma.sql`COALESCE(
  (SELECT o.state FROM line_outcome o WHERE o.account_id = t.account_id AND o.nsu = t.nsu),
    'pending')`;

type Transaction = z.output<typeof transactionView>;
type TransactionRow = Omit<
  Transaction,
  'amount' | 'type' | 'balance' | 'explanation' | 'counterparty'
> &
  Transaction['explanation'] &
  Pick<
    StatementLine,
    'amountCents' | 'typeName' | 'isCredit' | 'balancePreviousCents' | 'currentBalanceCents'
  >;

export interface TransactionFilters {
  nsu?: bigint | null;
  reference?: string | null;
  state?: string | null;
  isCredit?: boolean | null;
  /** A statement day. */
  day?: string | null;
  /** From this statement day on, and until this one. */
  dayFrom?: string | null | undefined;
  dayTo?: string | null | undefined;
  minAmount?: bigint | null | undefined;
  maxAmount?: bigint | null | undefined;
  /** Where the page begins, in its order. */
  afterNsu?: bigint | null;
  order?: Order | undefined;
  /** Of a payment that the line is matched to. */
  metadata?: MetadataText | null;
  limit: number;
}

/** The filters, with the payments that the metadata names. */
type SelectedTransactions = Omit<TransactionFilters, 'limit'> & { named: string[] | null };

/**
 * A query of the nsus that the filters can select, in their order and no more than `limit`. Each
 * part of it reads an index in the order of its last column, and stops when it has enough.
 */
function candidateNsus(
  accountId: number,
  filters: SelectedTransactions,
  limit: number,
): Prisma.Sql {
  const { nsu = null, reference = null, state = null, day = null } = filters;
  const { afterNsu = null, named, dayFrom = null, dayTo = null } = filters;
  const isSpan = dayFrom !== null || dayTo !== null;
  const { past, sort } = ordering(filters.order);
  const newest = (table: Prisma.Sql, condition: Prisma.Sql) => Prisma.sql`(
    SELECT nsu FROM ${table} WHERE account_id = ${accountId} AND ${condition}
      ${afterNsu === null ? Prisma.empty : Prisma.sql`AND nsu ${past} ${afterNsu}`}
    ORDER BY nsu ${sort} LIMIT ${limit})`;
  const lines = Prisma.sql`statement_line`;
  const ofDay = Prisma.sql`${statementDay} = ${day}::date`;
  if (named !== null) return newest(matchesOf(accountId, named), Prisma.sql`true`);
  if (nsu !== null) return newest(lines, Prisma.sql`nsu = ${nsu}`);
  if (reference !== null)
    return Prisma.sql`${newest(lines, Prisma.sql`correlation_id = ${reference}`)}
      UNION ${newest(lines, Prisma.sql`end_to_end_id = ${reference}`)}
      UNION ${newest(lines, Prisma.sql`external_id = ${reference}`)}`;
  const ofSpan = isSpan ? spanOfDays(accountId, dayFrom, dayTo) : Prisma.sql`true`;
  if (state === null) return newest(lines, day === null ? ofSpan : ofDay);
  // A day has its own span of nsus: few lines of other days are among them.
  const inSpan =
    day === null
      ? ofSpan
      : Prisma.sql`nsu BETWEEN
          (SELECT min(nsu) FROM statement_line WHERE account_id = ${accountId} AND ${ofDay})
          AND (SELECT max(nsu) FROM statement_line WHERE account_id = ${accountId} AND ${ofDay})`;
  const decided = newest(
    Prisma.sql`line_outcome`,
    Prisma.sql`state = ${state}::line_outcome_state AND ${inSpan}`,
  );
  if (state !== 'pending') return decided;
  // Not by the order of nsus: where nothing waits, that would read all lines.
  const undecided = Prisma.sql`(
    SELECT account_id, nsu FROM statement_line
    WHERE account_id = ${accountId}
      AND arrival <= (SELECT max(arrival) FROM statement_line WHERE account_id = ${accountId})
      AND arrival > COALESCE((SELECT decided_arrival FROM reconciliation_state
        WHERE account_id = ${accountId}), 0)
    OFFSET 0) undecided`;
  return Prisma.sql`${decided} UNION ${newest(undecided, Prisma.sql`true`)}`;
}

/** The lines that are matched to these payments. */
const matchesOf = (accountId: number, expectedPaymentIds: readonly string[]) => Prisma.sql`(
  SELECT DISTINCT ${accountId}::int AS account_id, m.nsu
  FROM unnest(${[...expectedPaymentIds]}::uuid[]) AS named(id)
  CROSS JOIN LATERAL (
    SELECT nsu FROM match
    WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = named.id
      AND unlinked_at IS NULL OFFSET 0
  ) m OFFSET 0) matched`;

/** The filters are applied to so many lines, in their order, and then the page ends. */
const maxExamined = 2_000;

/** The conditions of a line (t) and its outcome (o) that the candidates may not meet. */
function conditionsOf({
  nsu = null,
  reference = null,
  state = null,
  isCredit = null,
  day = null,
  dayFrom = null,
  dayTo = null,
  minAmount = null,
  maxAmount = null,
  named,
}: SelectedTransactions): Prisma.Sql[] {
  return [
    ...(nsu !== null && named ? [Prisma.sql`t.nsu = ${nsu}`] : []),
    ...(reference !== null && (nsu !== null || named)
      ? [Prisma.sql`${reference} IN (t.correlation_id, t.end_to_end_id, t.external_id)`]
      : []),
    ...(state === null ? [] : [Prisma.sql`o.state = ${state}`]),
    ...(isCredit === null ? [] : [Prisma.sql`t.is_credit = ${isCredit}`]),
    ...(day === null ? [] : [Prisma.sql`t.day = ${day}::date`]),
    ...(dayFrom === null ? [] : [Prisma.sql`t.day >= ${dayFrom}::date`]),
    ...(dayTo === null ? [] : [Prisma.sql`t.day <= ${dayTo}::date`]),
    ...(minAmount === null ? [] : [Prisma.sql`t.amount_cents >= ${minAmount}::bigint`]),
    ...(maxAmount === null ? [] : [Prisma.sql`t.amount_cents <= ${maxAmount}::bigint`]),
  ];
}

const select = async (db: Db, accountId: number, filters: Omit<TransactionFilters, 'limit'>) => {
  const found = filters.metadata ? await findByMetadata(db, accountId, filters.metadata) : null;
  return { ...filters, named: found?.expectedPaymentIds ?? null };
};

interface Sums {
  count: number;
  creditCents: bigint | null;
  debitCents: bigint | null;
}

/** What the filters select among the newest lines: their count, and the sums of both directions. */
export async function totalTransactions(
  db: Db,
  accountId: number,
  filters: Omit<TransactionFilters, 'limit' | 'afterNsu' | 'order'>,
): Promise<ListTotal> {
  const selected = await select(db, accountId, filters);
  const { nsu = null, reference = null, state = null, isCredit = null, day = null } = selected;
  const isByState = nsu === null && reference === null && selected.named === null;
  const ranges = [selected.dayFrom, selected.dayTo, selected.minAmount, selected.maxAmount];
  const hasRange = ranges.some((end) => end !== null && end !== undefined);
  if (isByState && state === null && !hasRange) return totalLines(db, accountId, { isCredit, day });
  // The candidates of a state have it, but for those of `pending`, of which few are.
  const conditions = conditionsOf(
    isByState && state !== 'pending' ? { ...selected, state: null } : selected,
  );
  const candidates = candidateNsus(accountId, selected, mostCounted + 1);
  const [total] = await db.$queryRaw<(Sums & { examined: number })[]>`
    WITH candidate AS MATERIALIZED (
      SELECT nsu FROM (${candidates}) candidate ORDER BY nsu DESC LIMIT ${mostCounted + 1}
    ), counted AS MATERIALIZED (SELECT count(*)::int AS examined FROM candidate)
    SELECT counted.examined, found.*
    FROM counted CROSS JOIN LATERAL (
      SELECT ${sumsOf(Prisma.sql`t`)}
      FROM candidate
      CROSS JOIN LATERAL (
        SELECT *, ${statementDay} AS day FROM statement_line
        WHERE account_id = ${accountId} AND nsu = candidate.nsu OFFSET 0
      ) t
      CROSS JOIN LATERAL (SELECT ${stateOfLine} AS state) o
      WHERE ${Prisma.join(
        conditions.length > 0 ? conditions : [Prisma.sql`counted.examined <= ${mostCounted}`],
        ' AND ',
      )}
    ) found`;
  const { examined = 0, ...found } = total ?? { count: 0 };
  return toTotal({ ...found, examined, count: conditions.length > 0 ? found.count : examined });
}

/** The count of rows and the sums of their amounts. */
const sumsOf = (row: Prisma.Sql) => Prisma.sql`count(*)::int AS count,
  (sum(${row}.amount_cents) FILTER (WHERE ${row}.is_credit))::bigint AS "creditCents",
  (sum(${row}.amount_cents) FILTER (WHERE NOT ${row}.is_credit))::bigint AS "debitCents"`;

/** As `totalTransactions`, of the lines of a day or of all. */
async function totalLines(
  db: Db,
  accountId: number,
  { isCredit, day }: { isCredit: boolean | null; day: string | null },
): Promise<ListTotal> {
  const [total] = await db.$queryRaw<(Sums & { examined: number })[]>`
    WITH examined AS MATERIALIZED (
      SELECT is_credit, amount_cents FROM statement_line
      WHERE account_id = ${accountId}
        AND ${day === null ? Prisma.sql`true` : Prisma.sql`${statementDay} = ${day}::date`}
      ORDER BY nsu DESC LIMIT ${mostCounted + 1}
    )
    SELECT (SELECT count(*)::int FROM examined) AS examined, ${sumsOf(Prisma.sql`t`)}
    FROM examined t
    WHERE ${isCredit === null ? Prisma.sql`true` : Prisma.sql`t.is_credit = ${isCredit}`}`;
  return toTotal(total ?? { count: 0 });
}

/**
 * The first of the lines that the filters select. Where they are fewer than `limit` because so
 * many lines had to be examined for them, `lastExamined` is the nsu after which the next page
 * begins.
 */
export async function listTransactionRows(
  db: Db,
  accountId: number,
  filters: TransactionFilters,
): Promise<{ rows: TransactionRow[]; lastExamined: bigint | null }> {
  const { limit } = filters;
  const { sort } = ordering(filters.order);
  const selected = await select(db, accountId, filters);
  const conditions = conditionsOf(selected);
  const examined = Prisma.sql`
    SELECT nsu FROM (${candidateNsus(accountId, selected, maxExamined)}) candidate
    ORDER BY nsu ${sort}`;
  const rows = await db.$queryRaw<RowOfPage<TransactionRow, bigint>[]>`
    SELECT page.*, CASE WHEN count(page.nsu) OVER () < ${limit} THEN (
      ${examined} OFFSET ${maxExamined - 1} LIMIT 1
    ) END AS last_examined
    FROM (SELECT 1) one LEFT JOIN (
      SELECT t.nsu, t.amount_cents, t.type_name, t.is_credit, t.correlation_id, t.end_to_end_id,
        t.external_id, t.notes, t.balance_previous_cents, t.current_balance_cents, t.occurred_at,
             t.recorded_at, x.*
      FROM (
        SELECT t.*, o.state
        FROM (${examined} LIMIT ${maxExamined}) examined
        CROSS JOIN LATERAL (
          SELECT *, ${statementDay} AS day FROM statement_line
          WHERE account_id = ${accountId} AND nsu = examined.nsu OFFSET 0
        ) t
        CROSS JOIN LATERAL (SELECT ${stateOfLine} AS state OFFSET 0) o
        WHERE ${Prisma.join([Prisma.sql`true`, ...conditions], ' AND ')}
        ORDER BY examined.nsu ${sort} LIMIT ${limit}
      ) t
      CROSS JOIN LATERAL (
        SELECT t.state,
               COALESCE(m.rule, c.rule, CASE WHEN b.explains THEN b.kind END) AS rule,
               COALESCE(m.evidence, c.evidence, CASE WHEN b.explains THEN b.evidence END)
                 AS evidence,
               CASE WHEN b.explains THEN b.kind END AS "breakKind",
               CASE WHEN b.explains THEN b.evidence END AS "breakEvidence",
               CASE WHEN m.rule IS NULL THEN c.category END AS category,
               CASE WHEN m.rule IS NULL THEN c.rule_id ELSE m.rule_id END AS "ruleId",
               CASE WHEN m.rule IS NULL THEN c.rule_version ELSE m.rule_version END
                 AS "ruleVersion",
               COALESCE(m.ids, '{}') AS "expectedPaymentIds", b.id AS "breakId",
               ARRAY(
                 SELECT expected_payment_id::text FROM line_candidate
                 WHERE account_id = t.account_id AND nsu = t.nsu ORDER BY 1
               ) AS "candidateIds"
        FROM (SELECT 1) one
        LEFT JOIN LATERAL (
          SELECT min(rule) AS rule,
                 (array_agg(evidence ORDER BY expected_payment_id))[1] AS evidence,
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
    ) page ON true
    ORDER BY page.nsu ${sort}`;
  return foundRows(rows, 'nsu');
}

export type ListedPayment = Omit<
  z.output<typeof expectedPaymentView>,
  | ('amount' | 'settledAmount' | 'returnedAmount' | 'amountFrom' | 'amountTo')
  | ('tolerance' | 'text' | 'counterparty')
> & {
  amountCents: bigint | null;
  amountFromCents: bigint | null;
  amountToCents: bigint | null;
  toleranceCents: bigint;
  textPattern: string | null;
  counterpartyDocument: string | null;
  counterpartyName: string | null;
  settledCents: bigint;
  /** Refunded to the payer, or reversed by the bank. */
  returnedCents: bigint;
};

interface ExpectedPaymentFilters {
  id?: string | null;
  state?: string | null;
  reference?: string | null;
  /** The kinds of references that `reference` may be; all by default. */
  kinds?: readonly string[];
  operationId?: string | null;
  /** Of a declared payment. */
  externalId?: string | null;
  metadata?: MetadataText | null;
  /** Where the page begins, in its order. */
  afterId: string | null;
  order?: Order | undefined;
  /** The current day at the bank: open payments whose last payment day is past are overdue. */
  today: string;
  limit: number;
}

/** A query of the ids that the filters can select, in their order and no more than `limit`. */
function candidatePayments(accountId: number, filters: ExpectedPaymentFilters): Prisma.Sql {
  const { state = null, reference = null, operationId = null, afterId, today, limit } = filters;
  const { past, sort } = ordering(filters.order);
  const examined = Math.max(limit, maxExamined);
  const { metadata = null, kinds = referenceKinds } = filters;
  const newest = (table: Prisma.Sql, id: Prisma.Sql, condition: Prisma.Sql, most = limit) =>
    Prisma.sql`(
      SELECT ${id} AS id FROM ${table} WHERE account_id = ${accountId} AND ${condition}
        ${afterId === null ? Prisma.empty : Prisma.sql`AND ${id} ${past} ${afterId}::uuid`}
      ORDER BY ${id} ${sort} LIMIT ${most})`;
  const own = Prisma.sql`id`;
  const { id = null, externalId = null } = filters;
  if (id !== null) return newest(Prisma.sql`expected_payment`, own, Prisma.sql`id = ${id}::uuid`);
  if (externalId !== null)
    return newest(Prisma.sql`expected_payment`, own, Prisma.sql`external_id = ${externalId}`);
  const ofTotal = Prisma.sql`expected_payment_id`;
  if (metadata !== null)
    return newest(
      Prisma.sql`expected_payment_metadata`,
      ofTotal,
      Prisma.sql`key = ${metadata.key} AND value = ${metadata.value}`,
      examined,
    );
  if (operationId !== null)
    return newest(
      Prisma.sql`(SELECT account_id, id FROM expected_payment
        WHERE account_id = ${accountId} AND operation_id = ${operationId}::uuid OFFSET 0) payment`,
      ...([own, Prisma.sql`true`, examined] as const),
    );
  if (reference !== null)
    return Prisma.join(
      kinds.map((kind) =>
        newest(
          Prisma.sql`expected_payment_reference`,
          ...([ofTotal, Prisma.sql`kind = ${kind} AND value = ${reference}`, examined] as const),
        ),
      ),
      ' UNION ',
    );
  const totals = Prisma.sql`expected_payment_total`;
  if (state === null) return newest(Prisma.sql`expected_payment`, own, Prisma.sql`true`);
  if (state !== 'open' && state !== 'overdue')
    return newest(totals, ofTotal, Prisma.sql`settlement = ${state}::settlement`);
  // The open payments of each of their last days, which the counters name.
  const ofDay = Prisma.sql`settlement = 'open' AND last_payment_day = counter.key`;
  const dayIs = state === 'open' ? Prisma.sql`>= ${today}` : Prisma.sql`< ${today}`;
  const byDay = Prisma.sql`(
    SELECT newest.id FROM account_counter counter
    CROSS JOIN LATERAL ${newest(totals, ofTotal, ofDay)} newest
    WHERE counter.account_id = ${accountId} AND counter.kind = 'open_payments'
      AND counter.key <> '' AND counter.key ${dayIs})`;
  if (state === 'overdue') return byDay;
  const dayless = Prisma.sql`settlement = 'open' AND last_payment_day IS NULL`;
  return Prisma.sql`${byDay}
    UNION ALL ${newest(totals, ofTotal, dayless)}
    UNION ${newest(Prisma.sql`reconciliation_task`, ofTotal, withoutTotal(accountId))}`;
}

/** A payment without a total was recorded just now: the task (of the payment) has not run yet. */
const withoutTotal = (accountId: number) => Prisma.sql`
  kind = 'payment' AND NOT EXISTS (
    SELECT FROM expected_payment_total total WHERE total.account_id = ${accountId}
      AND total.expected_payment_id = reconciliation_task.expected_payment_id)`;

/** The payments (e) that the filters select, with their totals (total) and states (x). */
function selectedPayments(
  accountId: number,
  filters: ExpectedPaymentFilters,
  examined: number,
): Prisma.Sql {
  const { state = null, reference = null, operationId = null, today } = filters;
  const { externalId = null, metadata = null, kinds = referenceKinds } = filters;
  const isById = externalId !== null || metadata !== null;
  const conditions = [
    ...(state === null ? [] : [Prisma.sql`x.state = ${state}`]),
    ...(externalId === null || metadata === null
      ? []
      : [
          Prisma.sql`EXISTS (
            SELECT FROM expected_payment_metadata m
            WHERE m.account_id = e.account_id AND m.expected_payment_id = e.id
              AND m.key = ${metadata.key} AND m.value = ${metadata.value})`,
        ]),
    ...(operationId === null ? [] : [Prisma.sql`e.operation_id = ${operationId}::uuid`]),
    ...(reference === null || (operationId === null && !isById)
      ? []
      : [
          Prisma.sql`EXISTS (
          SELECT FROM expected_payment_reference
          WHERE account_id = ${accountId} AND kind = ANY (${[...kinds]}::text[])
            AND value = ${reference} AND expected_payment_id = e.id)`,
        ]),
  ];
  return Prisma.sql`(
      SELECT id FROM (${candidatePayments(accountId, filters)}) candidate
      ORDER BY id ${ordering(filters.order).sort} LIMIT ${examined}
    ) listed
    CROSS JOIN LATERAL (
      SELECT * FROM expected_payment WHERE account_id = ${accountId} AND id = listed.id OFFSET 0
    ) e
    LEFT JOIN LATERAL (
      SELECT * FROM expected_payment_total
      WHERE account_id = ${accountId} AND expected_payment_id = listed.id OFFSET 0
    ) total ON true
    CROSS JOIN LATERAL (
      SELECT CASE WHEN total.settlement = 'open' AND total.last_payment_day < ${today}
                  THEN 'overdue'
                  ELSE COALESCE(total.settlement, 'open')::text END AS state
    ) x
    WHERE ${Prisma.join([Prisma.sql`true`, ...conditions], ' AND ')}`;
}

/** What the filters select among the newest payments: their count, and the sums of both ways. */
export async function totalExpectedPayments(
  db: Db,
  accountId: number,
  filters: Omit<ExpectedPaymentFilters, 'limit' | 'afterId' | 'order'>,
): Promise<ListTotal> {
  const limit = mostCounted + 1;
  const newest = { ...filters, limit, afterId: null };
  const { reference, operationId, externalId, metadata } = filters;
  // The candidates of a state have it, and are counted by its index alone.
  const selected =
    reference || operationId || externalId || metadata
      ? Prisma.sql`SELECT listed.id FROM ${selectedPayments(accountId, newest, limit)}`
      : Prisma.sql`SELECT id FROM (${candidatePayments(accountId, newest)}) candidate`;
  const [total] = await db.$queryRaw<(Sums & { found: number })[]>`
    WITH found AS MATERIALIZED (${selected} LIMIT ${limit}),
      counted AS MATERIALIZED (SELECT count(*)::int AS found FROM found)
    SELECT counted.found, sums.*
    FROM counted CROSS JOIN LATERAL (
      SELECT ${sumsOf(Prisma.sql`e`)}
      FROM found
      CROSS JOIN LATERAL (
        SELECT is_credit, amount_cents FROM expected_payment
        WHERE account_id = ${accountId} AND id = found.id OFFSET 0
      ) e
      WHERE counted.found <= ${mostCounted}
    ) sums`;
  const { found: count = 0, ...sums } = total ?? {};
  return toTotal({ ...sums, count });
}

export async function listExpectedPaymentRows(
  db: Db,
  accountId: number,
  filters: ExpectedPaymentFilters,
): Promise<ListedPayment[]> {
  const { state = null, metadata = null, limit, order } = filters;
  const examined = state === null && metadata === null ? limit : maxExamined;
  return db.$queryRaw<ListedPayment[]>`
    SELECT e.id, e.operation_id, e.kind, x.state, e.is_credit,
           e.amount_cents, COALESCE(total.paid_cents, 0) AS "settledCents",
           CASE WHEN e.is_credit THEN COALESCE(total.refunded_cents, 0)
                ELSE COALESCE(total.reversed_cents, 0) END AS "returnedCents",
           e.due_date, e.is_multi_use, e.created_at, (
             SELECT COALESCE(jsonb_agg(jsonb_build_object('kind', kind, 'value', value)), '[]')
             FROM expected_payment_reference
             WHERE account_id = ${accountId} AND expected_payment_id = listed.id
           ) AS "references",
           e.external_id, e.amount_from_cents, e.amount_to_cents, e.tolerance_cents,
           to_char(e.date_from, 'YYYY-MM-DD') AS date_from,
           to_char(e.date_to, 'YYYY-MM-DD') AS date_to, e.text_pattern, e.counterparty_document,
           e.counterparty_name, e.category, e.cost_centre, e.project, e.version,
           ${metadataColumn(Prisma.sql`${accountId}`, Prisma.sql`listed.id`)} AS metadata
    FROM ${selectedPayments(accountId, filters, examined)}
    ORDER BY listed.id ${ordering(order).sort} LIMIT ${limit}`;
}
