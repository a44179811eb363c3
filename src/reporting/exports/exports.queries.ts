// Reads the data of export files and monthly reports. Lines are read page by page in nsu order, so
// that no connection waits for a slow client. Lines that arrive after the start of a file are left
// out.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { openedDay } from '../../reconciliation/breaks/severity.queries.js';
import { explainsItsLine } from '../../reconciliation/load/line-leaves.queries.js';
import { statementDayIn } from '../../statement/lines/bank-clock.queries.js';
import type { ExportedLineRow } from './exported-line.js';
import type { BreakSums, LineTotal } from './month-days.js';

export interface Window {
  from: Date;
  until: Date;
}

/** The range of a window's lines, as they were when a file was opened. */
export interface LineExtent {
  /** The highest arrival number of the account's lines. */
  arrival: bigint;
  count: bigint;
  firstNsu: bigint | null;
  lastNsu: bigint | null;
}

export async function readLineExtent(
  db: Db,
  accountId: number,
  { from, until }: Window,
): Promise<LineExtent> {
  const [extent] = await db.$queryRaw<LineExtent[]>`
    WITH bound AS MATERIALIZED (
      SELECT COALESCE(max(arrival), 0) AS arrival
      FROM statement_line WHERE account_id = ${accountId}
    )
    SELECT (SELECT arrival FROM bound) AS arrival, count(*) AS count,
           min(nsu) AS "firstNsu", max(nsu) AS "lastNsu"
    FROM statement_line
    WHERE account_id = ${accountId} AND occurred_at >= ${from} AND occurred_at < ${until}
      AND arrival <= (SELECT arrival FROM bound)`;
  return extent ?? { arrival: 0n, count: 0n, firstNsu: null, lastNsu: null };
}

/**
 * The bank's time up to which the statement is complete; null when that is unknown. The statement
 * is complete up to the end of the closed period. If it has no gap, it is also complete up to the
 * start of the last completed sync less `boundMs`, the time after which the bank shows every line.
 */
export async function readCompleteUntil(
  db: Db,
  accountId: number,
  boundMs: number,
): Promise<Date | null> {
  const [state] = await db.$queryRaw<{ until: Date | null }[]>`
    SELECT GREATEST(closed_until, CASE WHEN first_gap_nsu IS NULL
             THEN last_sync_started_at
               + (clock_offset_ms - ${boundMs}::float8) * interval '1 millisecond' END) AS until
    FROM statement_state WHERE account_id = ${accountId}`;
  return state?.until ?? null;
}

/**
 * The account's balance at the start of the window. The bank may number lines in another order than
 * it books them, or number them among lines of other days. Therefore:
 * - A balance may be the previous balance of more of the window's lines than it is the current
 *   balance of. If there is exactly one such balance, it is the result.
 * - Otherwise the result is the previous balance of the line with the lowest nsu. This balance is
 *   corrected by the lines whose nsu and time lie on different sides of that line and the window's
 *   edge.
 * - In a window without lines, the result is the current balance of the last line before the
 *   window, or else the previous balance of the first line of all.
 */
export async function readOpeningBalance(
  db: Db,
  accountId: number,
  { from, until }: Window,
  { arrival, firstNsu }: LineExtent,
): Promise<bigint> {
  // Each sum has an index range of its own: one condition for both would read the whole statement.
  const sumWhere = (condition: Prisma.Sql) => Prisma.sql`(
    SELECT COALESCE(sum(CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END), 0)::bigint
    FROM statement_line
    WHERE account_id = ${accountId} AND arrival <= ${arrival} AND ${condition})`;
  const [opening] = await db.$queryRaw<{ cents: bigint }[]>`
    WITH ends AS (
      SELECT balance, sum(side) AS side FROM (
        SELECT unnest(ARRAY[balance_previous_cents, current_balance_cents]) AS balance,
               unnest(ARRAY[1, -1]) AS side
        FROM statement_line t
        WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
          AND t.arrival <= ${arrival}
      ) sides GROUP BY balance HAVING sum(side) <> 0
    )
    SELECT COALESCE(
             (SELECT max(balance) FILTER (WHERE side > 0) FROM ends
              HAVING count(*) = 2 AND max(side) = 1),
             (SELECT f.balance_previous_cents
                + ${sumWhere(Prisma.sql`nsu > ${firstNsu}::bigint AND occurred_at < ${from}`)}
                - ${sumWhere(Prisma.sql`nsu < ${firstNsu}::bigint AND occurred_at >= ${until}`)}
              FROM statement_line f
              WHERE f.account_id = ${accountId} AND f.nsu = ${firstNsu}::bigint),
             (SELECT current_balance_cents FROM statement_line
              WHERE account_id = ${accountId} AND occurred_at < ${from}
              ORDER BY occurred_at DESC, nsu DESC LIMIT 1),
             (SELECT balance_previous_cents FROM statement_line
              WHERE account_id = ${accountId} ORDER BY nsu LIMIT 1), 0) AS cents`;
  return opening?.cents ?? 0n;
}

export interface PageOfLines extends Window {
  arrival: bigint;
  afterNsu: bigint;
  lastNsu: bigint;
  limit: number;
}

/**
 * The empty interval keeps the planner from using the index on time. With that index, each page
 * would sort the rest of the window again.
 */
const linesOfPage = (
  accountId: number,
  { from, until, arrival, afterNsu, lastNsu, limit }: PageOfLines,
) => Prisma.sql`
  SELECT nsu, occurred_at, type_name, is_credit, amount_cents, current_balance_cents,
         correlation_id, end_to_end_id, external_id, bill_code, notes
  FROM statement_line
  WHERE account_id = ${accountId} AND nsu > ${afterNsu} AND nsu <= ${lastNsu}
    AND arrival <= ${arrival}
    AND occurred_at + interval '0' >= ${from} AND occurred_at + interval '0' < ${until}
  ORDER BY nsu LIMIT ${limit}`;

/** A page of the window's lines, by nsu, each with its current state and what explains it. */
export async function listExportedLines(
  db: Db,
  accountId: number,
  page: PageOfLines,
): Promise<ExportedLineRow[]> {
  return db.$queryRaw<ExportedLineRow[]>`
    WITH page AS MATERIALIZED (${linesOfPage(accountId, page)})
    SELECT p.*, COALESCE(o.state, 'pending') AS state,
           COALESCE(m.rule, c.rule, b.kind) AS rule,
           CASE WHEN m.rule IS NULL THEN c.category::text END AS classification,
           b.kind AS "breakKind",
           COALESCE(m.ids::text[], '{}') AS "expectedPaymentIds", m.fee_cents,
           COALESCE(named.list, '[]') AS metadata,
           COALESCE(p.external_id, p.correlation_id, declared.external_id, r.client_reference)
             AS client_reference
    FROM page p
    LEFT JOIN line_outcome o ON o.account_id = ${accountId} AND o.nsu = p.nsu
    LEFT JOIN LATERAL (
      SELECT string_agg(DISTINCT rule, ' ' ORDER BY rule) AS rule,
             array_agg(DISTINCT expected_payment_id ORDER BY expected_payment_id) AS ids,
             sum((evidence -> 'fee' ->> 'cents')::bigint)::bigint AS fee_cents
      FROM match WHERE account_id = ${accountId} AND nsu = p.nsu AND unlinked_at IS NULL
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT string_agg(DISTINCT value, ' ' ORDER BY value) AS client_reference
      FROM expected_payment_reference
      WHERE p.external_id IS NULL AND p.correlation_id IS NULL
        AND account_id = ${accountId} AND expected_payment_id = ANY (m.ids)
        AND kind IN ('external_id', 'correlation_id')
    ) r ON true
    LEFT JOIN LATERAL (
      SELECT string_agg(DISTINCT external_id, ' ' ORDER BY external_id) AS external_id
      FROM expected_payment
      WHERE account_id = ${accountId} AND id = ANY (m.ids) AND external_id IS NOT NULL
    ) declared ON true
    LEFT JOIN LATERAL (
      SELECT jsonb_agg(texts.one ORDER BY texts.id) AS list FROM (
        SELECT expected_payment_id AS id, jsonb_object_agg(key, value) AS one
        FROM expected_payment_metadata
        WHERE account_id = ${accountId} AND expected_payment_id = ANY (m.ids)
        GROUP BY expected_payment_id
      ) texts
    ) named ON true
    LEFT JOIN classification c ON c.account_id = ${accountId} AND c.nsu = p.nsu
    LEFT JOIN LATERAL (
      SELECT kind FROM break
      WHERE account_id = ${accountId} AND nsu = p.nsu AND ${explainsItsLine}
      ORDER BY opened_at, kind LIMIT 1
    ) b ON true
    ORDER BY p.nsu`;
}

const dayOfLine = statementDayIn(Prisma.sql`t.occurred_at`);

/** The lines of the window that had arrived, by day, direction and outcome. */
export async function listLineTotals(
  db: Db,
  accountId: number,
  { from, until }: Window,
  { arrival }: Pick<LineExtent, 'arrival'>,
): Promise<LineTotal[]> {
  return db.$queryRaw`
    SELECT day, is_credit, state, label, undoes, count(*) AS lines,
           sum(amount_cents)::bigint AS cents
    FROM (
      SELECT ${dayOfLine} AS day, t.is_credit, t.amount_cents,
             COALESCE(o.state, 'pending') AS state, o.label,
             o.state = 'matched' AND EXISTS (
               SELECT FROM match m
               WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL
                 AND (m.role = 'reversal' OR NOT t.is_credit AND (
                   SELECT kind = 'refund_pix' FROM expected_payment
                   WHERE account_id = m.account_id AND id = m.expected_payment_id))
             ) AS undoes
      FROM statement_line t
      LEFT JOIN line_outcome o ON o.account_id = t.account_id AND o.nsu = t.nsu
      WHERE t.account_id = ${accountId} AND t.arrival <= ${arrival}
        AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
    ) line
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`;
}

/** The open breaks of days up to this one, by kind and day. */
export async function listBreakTotals(
  db: Db,
  accountId: number,
  lastDay: PlainDate,
): Promise<BreakSums[]> {
  return db.$queryRaw`
    SELECT kind, day, is_of_line, count(*) AS breaks,
           COALESCE(sum(signed) FILTER (WHERE signed > 0), 0)::bigint AS credit_cents,
           COALESCE(-sum(signed) FILTER (WHERE signed < 0), 0)::bigint AS debit_cents
    FROM (
      SELECT b.kind, t.nsu IS NOT NULL AS is_of_line,
             COALESCE(${dayOfLine}, e.due_date, ${openedDay}) AS day,
             CASE WHEN COALESCE(t.is_credit, e.is_credit, true) THEN b.amount_cents
                  ELSE -b.amount_cents END AS signed
      FROM break b
      LEFT JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
      LEFT JOIN expected_payment e ON e.account_id = b.account_id AND e.id = b.expected_payment_id
      WHERE b.account_id = ${accountId} AND b.state = 'open'
    ) item
    WHERE day <= ${lastDay}
    GROUP BY kind, day, is_of_line ORDER BY kind, day, is_of_line`;
}
