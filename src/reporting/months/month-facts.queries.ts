// What stands in the way of closing a month, as rows of (item, key, cents, since). Each item has
// one SELECT; those of days are found from the certificates.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { bankTimeNow, statementDayIn } from '../../statement/lines/bank-clock.queries.js';
import type { Window } from '../exports/exports.queries.js';
import type { ChecklistItemName, ItemFinding } from './checklist.js';

/** The days of a month, by their times, and the last of them. */
export interface MonthSpan extends Window {
  accountId: number;
  lastDay: string;
}

export type FoundItem = ItemFinding & { item: ChecklistItemName };

const dayOfLine = statementDayIn(Prisma.sql`t.occurred_at`);
const inWindow = ({ from, until }: Window) =>
  Prisma.sql`t.occurred_at >= ${from} AND t.occurred_at < ${until}`;

/** Lines that wait for what may explain them, and lines that nothing has decided yet. */
const undecidedLines = ({ accountId, ...window }: MonthSpan) => Prisma.sql`
  SELECT 'lines_decided' AS item, t.nsu::text AS key, t.amount_cents AS cents,
         ${dayOfLine} AS since
  FROM line_outcome o JOIN statement_line t ON t.account_id = o.account_id AND t.nsu = o.nsu
  WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.state = 'pending' AND ${inWindow(window)}
  UNION ALL
  SELECT 'days_certified', 'line ' || t.nsu, t.amount_cents, ${dayOfLine}
  FROM statement_line t
  WHERE t.account_id = ${opaqueAccountId(accountId)} AND ${inWindow(window)}
    AND t.arrival > COALESCE(
      (SELECT decided_arrival FROM reconciliation_state WHERE account_id = ${accountId}), 0)
    AND NOT EXISTS (
      SELECT FROM line_outcome o WHERE o.account_id = t.account_id AND o.nsu = t.nsu)`;

/**
 * A break belongs to the month of its line; without a line, to every month from the day on which
 * its payment was due, or on which it was opened. What the bank charged is an item of its own.
 */
const openBreaks = ({ accountId, lastDay, ...window }: MonthSpan) => Prisma.sql`
  SELECT CASE WHEN b.kind = 'fee_mismatch' THEN 'fees_checked' ELSE 'breaks_resolved' END,
         b.id || ' ' || COALESCE(b.amount_cents::text, ''), abs(b.amount_cents),
         COALESCE(b.opened_day, ${statementDayIn(Prisma.sql`COALESCE(t.occurred_at, b.opened_at)`)})
  FROM break b
  LEFT JOIN statement_line t ON t.account_id = b.account_id AND t.nsu = b.nsu
  LEFT JOIN expected_payment_total p ON t.nsu IS NULL AND p.account_id = b.account_id
    AND p.expected_payment_id = b.expected_payment_id
  WHERE b.account_id = ${opaqueAccountId(accountId)} AND b.state = 'open'
    AND CASE WHEN t.nsu IS NULL
      THEN COALESCE(p.last_payment_day, b.opened_day, ${statementDayIn(Prisma.sql`b.opened_at`)})
        <= ${lastDay}
      ELSE ${inWindow(window)} END`;

/** Requests of the month and before it whose outcome is not known. */
const unknownOperations = ({ accountId, until }: MonthSpan) => Prisma.sql`
  SELECT 'operations_known', o.id::text, o.amount_cents, ${statementDayIn(Prisma.sql`o.created_at`)}
  FROM operation o
  WHERE o.account_id = ${opaqueAccountId(accountId)}
    AND o.state IN ('received', 'sending', 'unknown', 'needs_operator')
    AND o.created_at + (${bankTimeNow(accountId)} - clock_timestamp()) < ${until}`;

/** Overdue payments that have no break yet; one with a break is reviewed as that break is. */
const overduePayments = ({ accountId, lastDay }: MonthSpan, today: string) => Prisma.sql`
  SELECT 'overdue_reviewed', p.expected_payment_id::text, e.amount_cents, p.last_payment_day
  FROM expected_payment_total p
  JOIN expected_payment e ON e.account_id = p.account_id AND e.id = p.expected_payment_id
  WHERE p.account_id = ${accountId} AND p.settlement = 'open'
    AND p.last_payment_day <= ${lastDay} AND p.last_payment_day < ${today}
    AND NOT EXISTS (
      SELECT FROM break b WHERE b.account_id = p.account_id AND b.kind = 'missing'
        AND b.expected_payment_id = p.expected_payment_id)`;

/** What is found of each item; nothing of the others. */
export async function listFindings(db: Db, span: MonthSpan, today: string): Promise<FoundItem[]> {
  return db.$queryRaw<FoundItem[]>`
    SELECT item, count(*)::int AS count, COALESCE(sum(cents), 0)::bigint AS cents,
           min(since) AS since,
           encode(sha256(convert_to(string_agg(key, ' ' ORDER BY key), 'UTF8')), 'hex') AS seen
    FROM (
      ${undecidedLines(span)}
      UNION ALL ${openBreaks(span)}
      UNION ALL ${unknownOperations(span)}
      UNION ALL ${overduePayments(span, today)}
    ) found
    GROUP BY item`;
}

/** Whether a price list holds on the last day that has a tariff. */
export async function hasPriceList(db: Db, accountId: number, lastDay: string): Promise<boolean> {
  const [found] = await db.$queryRaw<{ isPriced: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM tariff r JOIN price_list l USING (account_id, version)
      WHERE r.account_id = ${accountId} AND l.valid_from <= ${lastDay}
    ) AS "isPriced"`;
  return found?.isPriced === true;
}

/** Until the transaction ends, no line is stored; outcomes are locked by the caller. */
export async function holdStatement(db: Db, accountId: number): Promise<void> {
  await db.$queryRaw`SELECT FROM statement_state WHERE account_id = ${accountId} FOR SHARE`;
}
