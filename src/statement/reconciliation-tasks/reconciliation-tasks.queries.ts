// Records which subjects must be decided again. Whoever changes a fact records the task in the
// transaction of the fact, so that neither is committed without the other.
import {
  opaqueAccountId,
  type Db,
  type SqlTx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { Prisma, type ReconciliationTask } from '../../generated/service/client.js';

/** Decides these lines again. */
export async function recordLineTasks(
  tx: SqlTx,
  accountId: number,
  nsus: readonly bigint[],
): Promise<void> {
  if (nsus.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind, nsu)
    SELECT ${accountId}, 'line', nsu FROM unnest(${[...nsus]}::bigint[]) AS subject(nsu)`;
}

/** Decides these lines again when a bound has passed, unless that is recorded already. */
export async function recordDelayedLineTasks(
  tx: SqlTx,
  accountId: number,
  nsus: readonly bigint[],
  afterMs: number,
): Promise<void> {
  if (nsus.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind, nsu, due_at)
    SELECT ${accountId}, 'line', nsu, clock_timestamp() + ${afterMs} * interval '1 millisecond'
    FROM unnest(${[...nsus]}::bigint[]) AS subject(nsu)
    WHERE NOT EXISTS (
      SELECT FROM reconciliation_task later
      WHERE later.account_id = ${opaqueAccountId(accountId)} AND later.nsu = subject.nsu
        AND later.kind = 'line' AND later.due_at > clock_timestamp())`;
}

/** Decides these expected payments, and the lines connected with them, again. */
export async function recordPaymentTasks(
  tx: SqlTx,
  accountId: number,
  expectedPaymentIds: readonly string[],
  afterMs = 0,
): Promise<void> {
  if (expectedPaymentIds.length === 0) return;
  await tx.$executeRaw(paymentTasksWrite(accountId, expectedPaymentIds, afterMs).sql);
}

/** Records what `recordPaymentTasks` does. */
export function paymentTasksWrite(
  accountId: number,
  expectedPaymentIds: readonly string[],
  afterMs = 0,
): Write {
  const rows = [...new Set(expectedPaymentIds)].map((id) => ({ id }));
  const sql = Prisma.sql`
    INSERT INTO reconciliation_task (account_id, kind, expected_payment_id, due_at)
    SELECT ${accountId}::int, 'payment', id,
           clock_timestamp() + ${afterMs}::float8 * interval '1 millisecond'
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS subject(id uuid)`;
  return { sql, rows: null };
}

/**
 * Decides the expected payments of an operation again: its state or its response changed. Also the
 * operation itself, if its outcome was ever unknown.
 */
export async function recordOperationTasks(
  tx: Db,
  accountId: number,
  operationId: string,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind, expected_payment_id, operation_id)
    SELECT account_id, 'payment'::reconciliation_task_kind, id, NULL FROM expected_payment
    WHERE account_id = ${accountId} AND operation_id = ${operationId}::uuid
    UNION ALL
    SELECT account_id, 'operation', NULL, id FROM operation
    WHERE account_id = ${accountId} AND id = ${operationId}::uuid
      AND (is_detached OR state = 'needs_operator')`;
}

/**
 * A part of a statement. It decides the expected payments of operations again, whose ids are those
 * of a query of the same statement.
 */
export const paymentTasksOf = (accountId: number, operationIds: Prisma.Sql) => Prisma.sql`
  INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
  SELECT ${accountId}::int, 'payment', payment.id
  FROM (${operationIds}) decided
  CROSS JOIN LATERAL (
    SELECT id FROM expected_payment
    WHERE account_id = ${opaqueAccountId(accountId)} AND operation_id = decided.id OFFSET 0
  ) payment`;

/** Decides the expected payments again whose ids are those of a query. */
export async function recordTasksOfPayments(
  tx: SqlTx,
  accountId: number,
  payments: Prisma.Sql,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind, expected_payment_id)
    SELECT ${accountId}::int, 'payment', payment.id FROM (${payments}) payment`;
}

/** Decides again what is wrong about the statement itself: its chain, balance or unread lines. */
export async function recordStatementTask(tx: SqlTx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind) VALUES (${accountId}, 'statement')`;
}

/**
 * Whether a subject of one of these amounts (a query of cents) is due to be decided: until it is,
 * the matches do not show what the facts mean.
 */
export const isAmountDue = (accountId: number, amounts: Prisma.Sql) => Prisma.sql`EXISTS (
  SELECT FROM reconciliation_task task
  LEFT JOIN statement_line due_line ON due_line.account_id = task.account_id
    AND task.kind = 'line' AND due_line.nsu = task.nsu
  WHERE task.account_id = ${accountId} AND task.due_at <= clock_timestamp()
    AND (task.kind = 'rules' OR due_line.amount_cents IN (${amounts})
      OR EXISTS (
        SELECT FROM expected_payment due_payment
        WHERE due_payment.account_id = ${accountId} AND due_payment.id = task.expected_payment_id
          AND due_payment.amount_cents IN (${amounts}))))`;

/**
 * `rules`: decides every line that rules may decide again, because a rule was activated or retired.
 * `period`: makes final what rules decided in a period that was closed.
 */
export type RangeTaskKind = 'rules' | 'period';

/**
 * Records a task about all lines after an nsu, at once and from the first line by default. A
 * delayed one is recorded once until it is due.
 */
export async function recordRangeTask(
  tx: SqlTx,
  accountId: number,
  kind: RangeTaskKind,
  { afterNsu = -1n, delayMs = 0 } = {},
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind, nsu, due_at)
    SELECT ${accountId}, ${kind}::reconciliation_task_kind, ${afterNsu},
           clock_timestamp() + ${delayMs} * interval '1 millisecond'
    WHERE ${delayMs} = 0 OR NOT EXISTS (
      SELECT FROM reconciliation_task later
      WHERE later.account_id = ${opaqueAccountId(accountId)}
        AND later.kind = ${kind}::reconciliation_task_kind AND later.nsu <= ${afterNsu}
        AND later.due_at > clock_timestamp())`;
}

/** Checks the fees of the month of a line again, and of the months around it. */
export async function recordFeeTask(
  tx: SqlTx,
  accountId: number,
  nsu: bigint,
  delayMs = 0,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO reconciliation_task (account_id, kind, nsu, due_at)
    SELECT ${accountId}, 'fees', ${nsu}, clock_timestamp() + ${delayMs} * interval '1 millisecond'
    WHERE ${delayMs} = 0 OR NOT EXISTS (
      SELECT FROM reconciliation_task later
      WHERE later.account_id = ${opaqueAccountId(accountId)} AND later.nsu = ${nsu}
        AND later.kind = 'fees' AND later.due_at > clock_timestamp())`;
}

export type DueSubjectTask = Omit<ReconciliationTask, 'accountId' | 'dueAt'>;

/** The due tasks, oldest first, ranges last. The caller holds the account's lock. */
export async function claimTasks(
  tx: SqlTx,
  accountId: number,
  limit: number,
): Promise<DueSubjectTask[]> {
  return tx.$queryRaw`
    SELECT id, kind, nsu, expected_payment_id, operation_id
    FROM reconciliation_task
    WHERE account_id = ${opaqueAccountId(accountId)} AND due_at <= clock_timestamp()
    ORDER BY kind IN ('rules', 'period', 'fees'), id LIMIT ${limit}`;
}

export async function deleteTasks(tx: SqlTx, accountId: number, ids: bigint[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM reconciliation_task
    WHERE account_id = ${opaqueAccountId(accountId)} AND id = ANY (${ids}::bigint[])`;
}

/** The bank time at which the last complete sync (of the statement state `s`) began. */
export const lastSyncBankTime = Prisma.sql`
  (s.last_sync_started_at + s.clock_offset_ms * interval '1 millisecond')`;

/**
 * Whether lines were decided as of a bank time (of `r`) that lies ahead: a clock was read wrongly
 * then. The bank's `Date` header has whole seconds, so a difference of seconds means nothing.
 */
export const isSetBack = Prisma.sql`r.as_of > ${lastSyncBankTime} + interval '1 minute'`;

/** A condition on an account (a): it has new lines, due tasks, or deadlines that have passed. */
export const hasDueSubjects = Prisma.sql`(
  EXISTS (SELECT FROM reconciliation_task task
          WHERE task.account_id = a.id AND task.due_at <= clock_timestamp())
  OR EXISTS (SELECT FROM statement_state s
             JOIN expected_payment_total total ON total.account_id = s.account_id
             WHERE s.account_id = a.id AND total.deadline <= ${lastSyncBankTime})
  OR EXISTS (SELECT FROM statement_state s
             JOIN reconciliation_state r ON r.account_id = s.account_id
             WHERE s.account_id = a.id AND ${isSetBack})
  OR (SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = a.id)
    > COALESCE((SELECT s.decided_arrival FROM reconciliation_state s
                WHERE s.account_id = a.id), 0))`;

/** Accounts with something to decide; their jobs may have been lost with the queue. */
export async function listAccountsWithDueSubjects(db: Reader): Promise<{ accountId: number }[]> {
  return db.$queryRaw`SELECT a.id AS "accountId" FROM bank_account a WHERE ${hasDueSubjects}`;
}
