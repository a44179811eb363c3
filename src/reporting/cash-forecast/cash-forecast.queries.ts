// Reads what a cash forecast is computed from: open payments by their last day, what came of the
// payments that were expected on a day, and the totals of the statement's days.
import { opaqueAccountId, type Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { statementDayIn } from '../../statement/lines/bank-clock.queries.js';
import type { ForecastPeriod, OpenGroup, SettledGroup, StatementDay } from './cash-flow.js';

const cameOn = statementDayIn(Prisma.sql`line.occurred_at`);

/** The type of the charge of a payment (of); null if it has none. */
const chargeType = (accountId: number, of: Prisma.Sql) => Prisma.sql`(
  SELECT type FROM charge
  WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = ${of})`;

/** A forecast reads at most so many open payments. */
export const maxOpenPayments = 200_000;

/**
 * The open payments that are due by the last day, and those without a day, in groups of one day,
 * direction and, where the amount owed depends on the day, amount and terms. Of a declared range,
 * the least counts that may come in, and the most that may go out. One more than
 * `maxOpenPayments` is read, so that the caller sees that there are too many.
 */
export async function listOpenGroups(
  db: Db,
  accountId: number,
  until: string,
): Promise<OpenGroup[]> {
  return db.$queryRaw<OpenGroup[]>`
    SELECT open.day, e.is_credit, e.charge_type, e.terms,
           CASE WHEN e.terms IS NOT NULL THEN e.due_date END AS due_date,
           CASE WHEN e.terms IS NOT NULL THEN e.amount_cents END AS amount_cents,
           count(*)::int AS count, count(e.cautious_cents)::int AS "withAmount",
           COALESCE(sum(e.cautious_cents), 0)::bigint AS "totalCents"
    FROM (
      SELECT last_payment_day AS day, expected_payment_id AS id FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)} AND settlement = 'open'
        AND (last_payment_day IS NULL OR last_payment_day <= ${until})
      LIMIT ${maxOpenPayments + 1}
    ) open
    CROSS JOIN LATERAL (
      SELECT is_credit, amount_cents,
             CASE WHEN is_credit THEN ${chargeType(accountId, Prisma.sql`open.id`)} END
               AS charge_type, due_date, terms,
             COALESCE(amount_cents, CASE WHEN is_credit THEN amount_from_cents
               ELSE amount_to_cents END) AS cautious_cents
      FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)} AND id = open.id OFFSET 0
    ) e
    GROUP BY 1, 2, 3, 4, 5, 6`;
}

/**
 * What lines paid of the payments that were expected on the days of the period, by the day on which
 * it came. A due date moves to its business day, so due dates from `dueFrom` on are read.
 */
export async function listSettledGroups(
  db: Db,
  accountId: number,
  { from, to }: ForecastPeriod,
  dueFrom: string,
): Promise<SettledGroup[]> {
  return db.$queryRaw<SettledGroup[]>`
    SELECT total.last_payment_day AS day, due.is_credit, charge.type AS charge_type,
           ${cameOn} AS "cameOn",
           count(*)::int AS count, sum(paid.amount_cents)::bigint AS "totalCents"
    FROM (
      SELECT id, is_credit FROM expected_payment
      WHERE account_id = ${opaqueAccountId(accountId)}
        AND due_date >= ${dueFrom} AND due_date <= ${to}
    ) due
    CROSS JOIN LATERAL (
      SELECT last_payment_day FROM expected_payment_total
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = due.id
        AND payment_count > 0 OFFSET 0
    ) total
    CROSS JOIN LATERAL (
      SELECT nsu, amount_cents FROM match
      WHERE account_id = ${opaqueAccountId(accountId)} AND expected_payment_id = due.id
        AND role = 'payment' AND unlinked_at IS NULL OFFSET 0
    ) paid
    CROSS JOIN LATERAL (
      SELECT occurred_at FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND nsu = paid.nsu OFFSET 0
    ) line
    CROSS JOIN LATERAL (
      SELECT CASE WHEN due.is_credit THEN ${chargeType(accountId, Prisma.sql`due.id`)} END AS type
    ) charge
    WHERE total.last_payment_day >= ${from} AND total.last_payment_day <= ${to}
    GROUP BY 1, 2, 3, 4`;
}

/**
 * The totals of each statement day that has lines. `matched` is the part of the lines that a match
 * explains; `undated` is the part of it that pays what has no day. Lines that arrived after
 * `arrival` are left out, as they are of the opening balance.
 */
export async function listStatementDays(
  db: Db,
  accountId: number,
  { from, until, arrival }: { from: Date; until: Date; arrival: bigint },
): Promise<StatementDay[]> {
  return db.$queryRaw<StatementDay[]>`
    SELECT ${cameOn} AS day,
           line.is_credit, sum(line.amount_cents)::bigint AS "totalCents",
           COALESCE(sum(matched.cents), 0)::bigint AS "matchedCents",
           COALESCE(sum(matched.undated), 0)::bigint AS "undatedCents"
    FROM statement_line line
    CROSS JOIN LATERAL (
      SELECT sum(m.amount_cents) AS cents, sum(m.amount_cents) FILTER (
          WHERE m.role = 'payment' AND total.last_payment_day IS NULL) AS undated
      FROM match m
      LEFT JOIN expected_payment_total total ON total.account_id = m.account_id
        AND total.expected_payment_id = m.expected_payment_id
      WHERE m.account_id = line.account_id AND m.nsu = line.nsu AND m.unlinked_at IS NULL
    ) matched
    WHERE line.account_id = ${accountId}
      AND line.occurred_at >= ${from} AND line.occurred_at < ${until}
      AND line.arrival <= ${arrival}
    GROUP BY 1, 2`;
}
