// What waits for a person, in numbers and in cents. The cost follows what is open, not the history.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { BreakSpan } from './overview.js';
import { maxOverdue, type WorkSum } from './today.js';

const sums = (cents: Prisma.Sql) => Prisma.sql`count(*) AS count,
  COALESCE(sum(${cents}), 0)::bigint AS cents, count(*) - count(${cents}) AS "withoutAmount"`;

/** `today` is a day at the bank. A payment of a range counts with its least amount. */
export async function sumOpenWork(db: Db, accountId: number, today: string): Promise<WorkSum[]> {
  const account = opaqueAccountId(accountId);
  return db.$queryRaw<WorkSum[]>`
    SELECT 'break' AS topic, kind AS name, ${sums(Prisma.sql`amount_cents`)}
    FROM break WHERE account_id = ${account} AND state = 'open' GROUP BY kind
    UNION ALL
    SELECT 'operation', state::text, ${sums(Prisma.sql`amount_cents`)}
    FROM operation WHERE account_id = ${account}
      AND (state = 'unknown' OR state = 'needs_operator' OR state = 'awaiting_approval')
    GROUP BY state
    UNION ALL
    SELECT 'line', state::text, sum(line_count)::bigint,
           sum(credit_cents + debit_cents)::bigint, 0
    FROM day_total WHERE account_id = ${account} AND state = 'pending' AND line_count > 0
    GROUP BY state
    UNION ALL
    SELECT 'overdue', CASE WHEN e.is_credit THEN 'in' ELSE 'out' END,
           ${sums(Prisma.sql`e.cents`)}
    FROM (
      SELECT expected_payment_id AS id FROM expected_payment_total
      WHERE account_id = ${account} AND settlement = 'open' AND last_payment_day < ${today}
      ORDER BY last_payment_day DESC LIMIT ${maxOverdue}
    ) due
    CROSS JOIN LATERAL (
      SELECT is_credit, COALESCE(amount_cents, amount_from_cents) AS cents
      FROM expected_payment WHERE account_id = ${account} AND id = due.id OFFSET 0
    ) e
    GROUP BY 2`;
}

/** Breaks that are open, and those that were resolved since; days are days at the bank. */
export async function listBreakSpans(
  db: Db,
  accountId: number,
  from: string,
): Promise<BreakSpan[]> {
  const account = opaqueAccountId(accountId);
  const openedDay = Prisma.sql`GREATEST(opened_day_of(opened_day, opened_at), ${from})`;
  // A day is written once for each group: to write it for each break would cost more than the rest.
  return db.$queryRaw<BreakSpan[]>`
    SELECT "openedDay", to_char(resolved, 'YYYY-MM-DD') AS "resolvedDay", cents
    FROM (
      SELECT ${openedDay} AS "openedDay", NULL::date AS resolved,
             COALESCE(sum(amount_cents), 0)::bigint AS cents
      FROM break WHERE account_id = ${account} AND state = 'open' GROUP BY 1
      UNION ALL
      SELECT ${openedDay},
             ((b.resolved_at + clock.bank) AT TIME ZONE 'UTC' - interval '3 hours')::date,
             COALESCE(sum(b.amount_cents), 0)::bigint
      FROM (
        SELECT COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS bank
        FROM statement_state WHERE account_id = ${account}
      ) clock
      JOIN break b ON b.account_id = ${account} AND b.state = 'resolved'
        AND b.resolved_at >= ${from}::date - clock.bank
      GROUP BY 1, 2
    ) spans`;
}
