// Reads and changes an account's credit days, and reads those that the statement shows.
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import {
  recordRangeTask,
  recordTasksOfPayments,
} from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import type { CreditDays } from './credit-days.js';

/** The last setting of each way of payment that the account has set, as JSON; null without any. */
export const ownCreditDays = (accountId: Prisma.Sql) => Prisma.sql`(
  SELECT json_object_agg(last.way, last.days) FROM (
    SELECT DISTINCT ON (way) way, days FROM credit_days_change
    WHERE account_id = ${accountId} ORDER BY way, sequence DESC
  ) last)`;

export async function readCreditDays(
  db: Db,
  accountId: number,
  ofProfile: CreditDays,
): Promise<CreditDays> {
  return { ...ofProfile, ...(await readOwnCreditDays(db, accountId)) };
}

export async function readOwnCreditDays(
  db: Db,
  accountId: number,
): Promise<Partial<CreditDays> | null> {
  const [row] = await db.$queryRaw<{ own: Partial<CreditDays> | null }[]>`
    SELECT ${ownCreditDays(Prisma.sql`${accountId}::int`)} AS own`;
  return row?.own ?? null;
}

/** Decides again what depends on the credit days: deadlines, and amounts owed on a payment day. */
export async function recordCreditDaysTasks(tx: SqlTx, accountId: number): Promise<void> {
  const payments = Prisma.sql`
    SELECT e.id FROM expected_payment e
    LEFT JOIN expected_payment_total total
      ON total.account_id = e.account_id AND total.expected_payment_id = e.id
    WHERE e.account_id = ${accountId} AND e.due_date IS NOT NULL
      AND (e.terms IS NOT NULL OR total.payment_count = 0 OR total IS NULL
        OR total.deadline IS NOT NULL)`;
  await recordTasksOfPayments(tx, accountId, payments);
  await recordRangeTask(tx, accountId, 'rules');
}

export interface ObservedCredit {
  paidOn: string;
  creditedOn: string;
  payments: number;
}

/** The payments of the last days of which the statement shows both days. A Pix is left out. */
export async function listObservedCredits(
  db: Db,
  accountId: number,
  days: number,
): Promise<ObservedCredit[]> {
  return db.$queryRaw<ObservedCredit[]>`
    SELECT paid_on,
           to_char(occurred_at AT TIME ZONE 'America/Sao_Paulo', 'YYYY-MM-DD') AS "creditedOn",
           count(*)::int AS payments
    FROM statement_line
    WHERE account_id = ${accountId} AND end_to_end_id IS NULL AND paid_on >= (
      SELECT to_char((clock_timestamp()
          + COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond')
          AT TIME ZONE 'America/Sao_Paulo' - ${days} * interval '1 day', 'YYYY-MM-DD')
      FROM statement_state WHERE account_id = ${accountId})
    GROUP BY 1, 2`;
}
