// Reads the closed months of accounts whose facts changed since their amendments were announced.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma, type MonthNotice } from '../../generated/service/client.js';

/** Whether no later decision reopened the month of a close (c). */
export const standsStill = Prisma.sql`NOT EXISTS (
  SELECT FROM month_decision d
  WHERE d.account_id = c.account_id AND d.month = c.month AND d.sequence > c.approval
    AND d.action = 'reopen')`;

/** Each with the cut up to which its changes were announced. */
export async function listUnannounced(
  db: Db,
  only: Pick<MonthNotice, 'accountId' | 'month'> | null = null,
): Promise<MonthNotice[]> {
  const selected = only
    ? Prisma.sql`c.account_id = ${only.accountId} AND c.month = ${only.month}`
    : Prisma.sql`true`;
  return db.$queryRaw<MonthNotice[]>`
    SELECT c.account_id, c.month, c.revision, announced.arrival AS "lastArrival",
           announced.sequence AS "outcomeSequence"
    FROM month_close c
    LEFT JOIN month_notice n USING (account_id, month, revision)
    CROSS JOIN LATERAL (
      SELECT COALESCE(n.last_arrival, c.last_arrival) AS arrival,
             COALESCE(n.outcome_sequence, c.outcome_sequence) AS sequence
    ) announced
    WHERE ${selected} AND ${standsStill} AND (
        announced.sequence < (
          SELECT r.outcome_sequence FROM reconciliation_state r WHERE r.account_id = c.account_id)
        OR announced.arrival < (
          SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = c.account_id))
    ORDER BY c.account_id, c.month`;
}
