// Records changes of due dates, and reads the due dates of payments. The list is append-only.
import type { SqlTx } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import type { DueDate } from './due-dates.js';

export interface DueDateChange {
  expectedPaymentId: string;
  dueDate: string;
  /** The operation that requested it; null where a read at the bank showed it. */
  operationId: string | null;
  /** On PostgreSQL's clock: it cannot be in force earlier. Null: since the payment was created. */
  possibleSince: Date | null;
}

/** The caller has locked what the payment belongs to. The first change records both due dates. */
export async function recordDueDateChange(
  tx: SqlTx,
  accountId: number,
  { expectedPaymentId, dueDate, operationId, possibleSince }: DueDateChange,
): Promise<void> {
  await tx.$executeRaw`
    WITH payment AS (
      SELECT e.due_date, COALESCE(e.created_at_bank_time, e.created_at + clock.ahead) AS created,
             last.bank_time AS last_from, clock_timestamp() + clock.ahead AS now,
             ${possibleSince}::timestamptz + clock.ahead AS possible_from
      FROM expected_payment e
      CROSS JOIN (
        SELECT COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond' AS ahead
        FROM statement_state WHERE account_id = ${accountId}
      ) clock
      LEFT JOIN LATERAL (
        SELECT bank_time FROM expected_payment_due_date
        WHERE account_id = e.account_id AND expected_payment_id = e.id
        ORDER BY sequence DESC LIMIT 1
      ) last ON true
      WHERE e.account_id = ${accountId} AND e.id = ${expectedPaymentId}::uuid
    )
    INSERT INTO expected_payment_due_date (account_id, expected_payment_id, due_date,
      possible_from, bank_time, operation_id)
    SELECT ${accountId}::int, ${expectedPaymentId}::uuid, day, possible_from, bank_time, operation
    FROM (
      SELECT 1 AS number, due_date AS day, created AS possible_from, created AS bank_time,
             NULL::uuid AS operation
      FROM payment WHERE last_from IS NULL AND due_date IS NOT NULL
      UNION ALL
      SELECT 2, ${dueDate}, LEAST(now, COALESCE(GREATEST(last_from, possible_from), created)), now,
             ${operationId}::uuid
      FROM payment
    ) added ORDER BY number`;
}

/** What `dueDatesColumn` reads of each due date: the day and the two times. */
export type StoredDueDates = [day: string, possibleFrom: string, from: string][] | null;

/** The due dates of a payment (e) of the account; null if they were never changed. */
export const dueDatesColumn = (accountId: Prisma.Sql) => Prisma.sql`(
  SELECT json_agg(json_build_array(due_date, possible_from, bank_time) ORDER BY sequence)
  FROM expected_payment_due_date
  WHERE account_id = ${accountId} AND expected_payment_id = e.id)`;

export function readDueDates(stored: StoredDueDates): DueDate[] {
  return (stored ?? []).map(([day, possibleFrom, from]) => ({
    day,
    possibleFrom: new Date(possibleFrom),
    from: new Date(from),
  }));
}
