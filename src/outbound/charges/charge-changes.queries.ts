// Records the changes of a charge that the bank accepted. A charge that the service did not issue
// has no row, and nothing is recorded.
import { opaqueAccountId, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { recordDueDateChange } from '../../statement/expected-payments/due-dates.queries.js';
import { metadataOfRow } from '../../statement/expected-payments/metadata.queries.js';
import type { Metadata } from '../../statement/expected-payments/metadata.js';
import { Prisma, type Charge } from '../../generated/service/client.js';
import { recordPaymentTasks } from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { firstStatusCheckAt } from './charge-status.js';

/** The present time by the bank's clock, as of the last sync. */
const bankTime = (accountId: number) => Prisma.sql`(
  SELECT clock_timestamp() + COALESCE(max(clock_offset_ms), 0) * interval '1 millisecond'
  FROM statement_state WHERE account_id = ${accountId})`;

export type VoidedCharge = Pick<Charge, 'correlationId' | 'type' | 'amountCents'> & {
  dueDate: string | null;
  metadata: Metadata | null;
};

/** Cancels a charge. Null when it was cancelled before. */
export async function recordVoid(
  tx: Tx,
  accountId: number,
  { correlationId, bankStatus }: { correlationId: string; bankStatus: string | null },
): Promise<VoidedCharge | null> {
  const [charge] = await tx.$queryRaw<(VoidedCharge & { expectedPaymentId: string })[]>`
    UPDATE charge
    SET cancelled_at = ${bankTime(accountId)}, next_check_at = NULL,
        bank_status = COALESCE(${bankStatus}, bank_status)
    WHERE account_id = ${accountId} AND correlation_id = ${correlationId}
      AND cancelled_at IS NULL
    RETURNING correlation_id, type, amount_cents, expected_payment_id, (
                SELECT due_date FROM expected_payment e
                WHERE e.account_id = charge.account_id AND e.id = charge.expected_payment_id
              ) AS "dueDate", ${metadataOfRow('charge')} AS metadata`;
  if (!charge) return null;
  await recordPaymentTasks(tx, accountId, [charge.expectedPaymentId]);
  return charge;
}

/**
 * Whether a change of a charge by one of these kinds of operation has no outcome yet. Locks the
 * charge until the commit.
 */
export async function hasChangeInProgress(
  tx: Tx,
  accountId: number,
  correlationId: string,
  kinds: readonly string[],
): Promise<boolean> {
  await tx.$queryRaw`
    SELECT 1 FROM charge
    WHERE account_id = ${accountId} AND correlation_id = ${correlationId} FOR NO KEY UPDATE`;
  const [found] = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM operation o
    WHERE o.account_id = ${accountId} AND o.kind = ANY (${[...kinds]}::text[])
      AND o.state IN ('received', 'sending', 'unknown')
      AND o.request_params::jsonb ->> 'correlationId' = ${correlationId} LIMIT 1`;
  return found !== undefined;
}

/** The kinds of operations that change a charge, as the index of these operations names them. */
const isChange = Prisma.sql`(o.kind = 'void_charge' OR o.kind = 'change_charge_due_date')`;

/** The newest operations that change a charge, by the path parameters of their requests. */
export async function listChangeIds(
  db: Db,
  accountId: number,
  requestParams: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>`
    SELECT o.id FROM operation o
    WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.request_params = ${requestParams}
      AND ${isChange}
    ORDER BY o.id DESC LIMIT ${limit}`;
  return rows.map(({ id }) => id);
}

/**
 * The due date of a charge when an operation was stored to change it. Null of a charge that the
 * service did not issue.
 */
export async function readDueDateBefore(
  db: Db,
  accountId: number,
  { correlationId, operationId }: { correlationId: string; operationId: string },
): Promise<string | null> {
  const [before] = await db.$queryRaw<{ dueDate: string | null }[]>`
    SELECT COALESCE((
      SELECT d.due_date FROM expected_payment_due_date d
      WHERE d.account_id = e.account_id AND d.expected_payment_id = e.id
        AND d.recorded_at < o.created_at
      ORDER BY d.sequence DESC LIMIT 1), e.due_date) AS "dueDate"
    FROM charge c
    JOIN expected_payment e ON e.account_id = c.account_id AND e.id = c.expected_payment_id
    JOIN operation o ON o.account_id = c.account_id AND o.id = ${operationId}::uuid
    WHERE c.account_id = ${opaqueAccountId(accountId)} AND c.correlation_id = ${correlationId}`;
  return before?.dueDate ?? null;
}

/** Records a new due date. A charge that had expired can be paid in time again. */
export async function recordDueDate(
  tx: Tx,
  accountId: number,
  change: { correlationId: string; dueDate: string; operationId: string },
  creditDays: number,
): Promise<void> {
  const { correlationId, dueDate, operationId } = change;
  const charges = await tx.$queryRaw<{ expectedPaymentId: string; sentAt: Date | null }[]>`
    UPDATE charge
    SET expired_at = NULL, checks = 0,
        next_check_at = CASE WHEN cancelled_at IS NULL
          THEN ${firstStatusCheckAt(dueDate, creditDays)}::timestamptz END
    WHERE account_id = ${accountId} AND correlation_id = ${correlationId}
    RETURNING expected_payment_id, (
      SELECT min(started_at) FROM operation_attempt
      WHERE account_id = ${accountId} AND operation_id = ${operationId}::uuid) AS "sentAt"`;
  for (const { expectedPaymentId, sentAt } of charges)
    await recordDueDateChange(tx, accountId, {
      ...{ expectedPaymentId, dueDate, operationId },
      possibleSince: sentAt,
    });
  await recordPaymentTasks(
    tx,
    accountId,
    charges.map(({ expectedPaymentId }) => expectedPaymentId),
  );
}
