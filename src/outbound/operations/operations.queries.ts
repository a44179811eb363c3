// Writes operations and their attempts. A state changes only from the states that may precede it.
// So when two processes act on one operation, only one of them succeeds.
import {
  opaqueAccountId,
  type Db,
  type SqlTx,
  type Tx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import { Prisma, type OperationAttempt } from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
import {
  paymentTasksOf,
  recordOperationTasks,
} from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { Operation, OperationState } from './operation.js';
import { refusedRepeat, restoredReason } from './recovery.js';

export type OperationRef = Pick<Operation, 'accountId' | 'id'>;

/** `received`: no byte was ever sent; `unknown`: an earlier attempt may have had its effect. */
export type ClaimableState = 'received' | 'unknown';

export interface Claim {
  /** The number of the attempt. */
  attempt: number;
  /** How long ago the operation was created, or approved. */
  ageMs: number;
}

const ageMs = Prisma.sql`
  (extract(epoch FROM clock_timestamp() - GREATEST(created_at, approved_at)) * 1000)::float8`;

/** How long after its claim an attempt may be sent, and after which time its process has died. */
export interface AttemptLimits {
  sentWithinMs: number;
  leaseMs: number;
}

/**
 * Claims an operation for one attempt, but only from the state that the caller read, and only while
 * its account is live. An operation that has become unknown since then must not be sent as if for
 * the first time. Only the caller may make the attempt that it claimed; null without a claim.
 */
export async function claimAttempt(
  db: Db,
  { accountId, id }: OperationRef,
  from: ClaimableState,
  { sentWithinMs, leaseMs }: AttemptLimits,
): Promise<Claim | null> {
  const [claim] = await db.$queryRaw<Claim[]>`
    WITH claimed AS (
      UPDATE operation
      SET state = 'sending', attempts = attempts + 1, updated_at = clock_timestamp(),
          next_action_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = ${from}
        AND bodies_deleted_at IS NULL
        AND (SELECT mode FROM bank_account WHERE id = ${accountId}) = 'live'
      RETURNING account_id, id, attempts, created_at, approved_at
    ), recorded AS (
      INSERT INTO operation_attempt (account_id, operation_id, number, send_by, clock_offset_ms,
        clock_offset_max_ms)
      SELECT c.account_id, c.id, c.attempts,
             clock_timestamp() + ${sentWithinMs} * interval '1 millisecond',
             s.clock_offset_ms, s.clock_offset_max_ms
      FROM claimed c LEFT JOIN statement_state s ON s.account_id = c.account_id
        AND s.clock_measured_at IS NOT NULL
    )
    SELECT attempts AS attempt, ${ageMs} AS "ageMs" FROM claimed`;
  // A repeat extends the time in which a line may be the operation's.
  if (claim && from === 'unknown') await recordOperationTasks(db, accountId, id);
  return claim ?? null;
}

/** How one attempt ended. The status is null if no response of the bank came. */
export type AttemptResult = Pick<OperationAttempt, 'number' | 'status' | 'reason'>;

/** Reads the operation and locks it for the rest of the transaction. */
export async function lockOperation(
  tx: Tx,
  { accountId, id }: OperationRef,
): Promise<Operation | null> {
  await tx.$queryRaw`
    SELECT 1 FROM operation WHERE account_id = ${accountId} AND id = ${id}::uuid FOR NO KEY UPDATE`;
  return tx.operation.findUnique({ where: { accountId_id: { accountId, id } } });
}

export async function finishAttempt(
  tx: Tx,
  { accountId, id }: OperationRef,
  outcome: OperationState,
  { number, status, reason }: AttemptResult,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE operation_attempt
    SET finished_at = clock_timestamp(), outcome = ${outcome}, status = ${status},
        reason = ${reason}
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid AND number = ${number}`;
}

/** The new state of an operation. */
export interface OperationStateChange {
  state: OperationState;
  reason: string | null;
  /** The bank's exact response; null where there is none. */
  response: { status: number; text: string } | null;
  bankReference: string | null;
  /** How long until an unfinished operation is advanced again; null for a final state. */
  nextActionInMs: number | null;
}

/** Updates a locked operation. `ended_at` does not change while the state stays the same. */
export async function updateOperationState(
  tx: Tx,
  { accountId, id }: OperationRef,
  { state, reason, response, bankReference, nextActionInMs }: OperationStateChange,
  isDetached: boolean,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE operation
    SET state = ${state}, reason = ${reason}, response_status = ${response?.status ?? null},
        response_body = ${response?.text ?? null},
        bank_reference = COALESCE(bank_reference, ${bankReference}), is_detached = ${isDetached},
        next_action_at =
          clock_timestamp() + ${nextActionInMs}::float8 * interval '1 millisecond',
        ended_at = CASE WHEN ${nextActionInMs}::float8 IS NULL
          THEN CASE WHEN state = ${state} THEN ended_at ELSE clock_timestamp() END END,
        updated_at = clock_timestamp()
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
}

/** The bank's response to an attempt. */
export interface AnsweredAttempt {
  /** Of the operation. */
  id: string;
  attempt: number;
  status: number;
  text: string;
  bankReference: string | null;
}

/**
 * Records that attempts of an account's operations succeeded, and decides their expected payments
 * again. Leaves out an operation whose attempt is not in progress any more, and one whose caller
 * did not wait: an event is due for it.
 */
export async function recordAnsweredAttempts(
  tx: SqlTx,
  accountId: number,
  answers: readonly AnsweredAttempt[],
): Promise<{ id: string; isOutgoing: boolean }[]> {
  return tx.$queryRaw<{ id: string; isOutgoing: boolean }[]>`
    WITH answer AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(answers)}::jsonb) AS r(
        id uuid, attempt int, status int, text text, "bankReference" text)
    ), ended AS (
      UPDATE operation o
      SET state = 'succeeded', reason = NULL, response_status = r.status, response_body = r.text,
          bank_reference = COALESCE(o.bank_reference, r."bankReference"), next_action_at = NULL,
          ended_at = clock_timestamp(), updated_at = clock_timestamp()
      FROM answer r
      WHERE o.account_id = ${opaqueAccountId(accountId)} AND o.id = r.id AND o.state = 'sending'
        AND o.attempts = r.attempt AND NOT o.is_detached
      RETURNING o.id, o.counterparty
    ), finished AS (
      UPDATE operation_attempt a
      SET finished_at = clock_timestamp(), outcome = 'succeeded', status = r.status
      FROM answer r JOIN ended ON ended.id = r.id
      WHERE a.account_id = ${opaqueAccountId(accountId)} AND a.operation_id = r.id
        AND a.number = r.attempt
    ), tasks AS (
      ${paymentTasksOf(accountId, Prisma.sql`SELECT id FROM ended`)}
    )
    SELECT id, counterparty IS NOT NULL AS "isOutgoing" FROM ended`;
}

/**
 * Whether the operation has this state and is due. When it is due while `sending`, the lease of its
 * attempt has expired: the process that made the attempt has died.
 */
export async function isDue(db: Db, { accountId, id }: OperationRef, state: OperationState) {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = ${state}
      AND next_action_at <= clock_timestamp()`;
  return found.length === 1;
}

/** The operation, if it was never sent and is due. */
export async function findDueUnsentOperation(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<Operation | null> {
  if (!(await isDue(db, { accountId, id }, 'received'))) return null;
  return db.operation.findUnique({ where: { accountId_id: { accountId, id } } });
}

/**
 * Claims a due operation with an unknown outcome for one recovery, and schedules the next recovery.
 * Only one of several processes gets the claim. If that process dies, another process recovers the
 * operation at the next due time.
 */
export async function claimForRecovery(
  db: Db,
  { accountId, id }: OperationRef,
  delayMs: number,
): Promise<Operation | null> {
  const claimed = await db.$executeRaw`
    UPDATE operation SET next_action_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'unknown'
      AND next_action_at <= clock_timestamp()`;
  if (claimed === 0) return null;
  return db.operation.findUnique({ where: { accountId_id: { accountId, id } } });
}

export async function postponeRecovery(
  db: Db,
  { accountId, id }: OperationRef,
  delayMs: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET next_action_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'unknown'`;
}

/** What the attempts of an operation show, whatever was recorded of the operation since. */
export interface AttemptHistory {
  /** How long ago the operation was created or approved, or the database was set back since. */
  ageMs: number;
  /** Whether the database was set back while the operation was unfinished. */
  isRestored: boolean;
  /** Whether the bank has refused a repeat. */
  hasRefusedRepeat: boolean;
}

export async function readAttemptHistory(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<AttemptHistory> {
  const [history] = await db.$queryRaw<AttemptHistory[]>`
    SELECT (extract(epoch FROM clock_timestamp()
             - GREATEST(o.created_at, o.approved_at, a.restored_at)) * 1000)::float8 AS "ageMs",
           a.restored_at IS NOT NULL AS "isRestored", a.has_refused_repeat AS "hasRefusedRepeat"
    FROM operation o CROSS JOIN LATERAL (
      SELECT max(finished_at) FILTER (WHERE reason = ${restoredReason}) AS restored_at,
             COALESCE(bool_or(reason = ${refusedRepeat}), false) AS has_refused_repeat
      FROM operation_attempt WHERE account_id = o.account_id AND operation_id = o.id
    ) a
    WHERE o.account_id = ${accountId} AND o.id = ${id}::uuid`;
  invariant(history, 'the operation whose attempts are read exists');
  return history;
}

/** The operation waits until its account is live again. */
export async function postponeUnsent(
  db: Db,
  { accountId, id }: OperationRef,
  delayMs: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET next_action_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'received'
      AND next_action_at <= clock_timestamp()`;
}

/**
 * For how long an operation could have been sent: since its creation or its approval, or since the
 * mode of its account last changed, as it did when a stop ended.
 */
export async function readSendableMs(db: Db, { accountId, id }: OperationRef): Promise<number> {
  const [operation] = await db.$queryRaw<{ sendableMs: number }[]>`
    SELECT (extract(epoch FROM clock_timestamp() - greatest(o.created_at, o.approved_at, (
              SELECT max(created_at) FROM account_mode_change WHERE account_id = o.account_id
            ))) * 1000)::float8 AS "sendableMs"
    FROM operation o WHERE o.account_id = ${accountId} AND o.id = ${id}::uuid`;
  invariant(operation, 'the age of an unsent operation was read');
  return operation.sendableMs;
}

/** Calls that may still reach the bank, and operations that wait to be sent. */
export async function countUnfinished(
  db: Db,
  accountId: number,
): Promise<{ callsUnderWay: number; waiting: number }> {
  const [counts] = await db.$queryRaw<{ callsUnderWay: bigint; waiting: bigint }[]>`
    SELECT count(*) FILTER (WHERE o.state = 'sending' AND a.send_by > clock_timestamp())
             AS "callsUnderWay",
           count(*) FILTER (WHERE o.state = 'received') AS waiting
    FROM operation o LEFT JOIN operation_attempt a ON a.account_id = o.account_id
      AND a.operation_id = o.id AND a.number = o.attempts
    WHERE o.account_id = ${accountId} AND (o.state = 'received' OR o.state = 'sending')`;
  const { callsUnderWay = 0n, waiting = 0n } = counts ?? {};
  return { callsUnderWay: Number(callsUnderWay), waiting: Number(waiting) };
}

/** Whether a byte of any attempt may have been sent. */
export async function hasPossiblySentAttempt(
  db: Db,
  { accountId, id }: OperationRef,
): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation_attempt
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid
      AND (outcome, reason) IS DISTINCT FROM ('received', 'not_sent') LIMIT 1`;
  return found.length > 0;
}

export type DueOperation = Pick<Operation, keyof OperationRef | 'traceparent'>;

/**
 * Unfinished operations that are due, the oldest first, limited per account, so that no account
 * delays another account.
 */
export async function listDueOperations(
  db: Reader,
  limitPerAccount: number,
): Promise<DueOperation[]> {
  return db.$queryRaw<DueOperation[]>`
    SELECT account_id, id, traceparent
    FROM (SELECT account_id, id, next_action_at, traceparent,
                 row_number() OVER (PARTITION BY account_id ORDER BY next_action_at) AS account_rank
          FROM operation WHERE next_action_at <= clock_timestamp()) due
    WHERE account_rank <= ${limitPerAccount} ORDER BY next_action_at`;
}

export type NewOperation = Pick<
  Operation,
  | keyof OperationRef
  | ('kind' | 'idempotencyKey' | 'requestHash' | 'requestParams' | 'requestQuery' | 'requestBody')
  | ('counterparty' | 'amountCents' | 'isDistinguishable' | 'externalIdHash')
  | ('isDetached' | 'effectiveFrom' | 'source' | 'requestedBy' | 'traceparent')
>;

export interface NewOperationState {
  sending: AttemptLimits | null;
  nextActionInMs: number;
  /** What the operations need before they are sent; null when they are sent at once. */
  approval: { expiresAfterHours: number } | null;
}

/**
 * Inserts operations of one account. With `sending`, those that are not detached are claimed for
 * their first attempt, which is recorded too: the caller makes it after the commit. Each other
 * operation is due after `nextActionInMs`, and at once when it is detached. An operation that needs
 * approval is detached, and due when it expires.
 */
export function operationsWrites(
  accountId: number,
  operations: readonly NewOperation[],
  { sending, nextActionInMs, approval }: NewOperationState,
): Write[] {
  const { sentWithinMs, leaseMs } = sending ?? { sentWithinMs: 0, leaseMs: 0 };
  const rows = operations.map((operation) => {
    const isSending = sending !== null && !operation.isDetached;
    const afterMs = isSending ? leaseMs : operation.isDetached ? 0 : nextActionInMs;
    return {
      isSending,
      nextActionInMs: approval ? approval.expiresAfterHours * 3_600_000 : afterMs,
      ...operation,
      // As text: a JSON number would pass through a float.
      amountCents: operation.amountCents?.toString() ?? null,
      isDetached: operation.isDetached || approval !== null,
    };
  });
  const unsentState = approval ? 'awaiting_approval' : 'received';
  const stored = Prisma.sql`
    INSERT INTO operation (account_id, id, kind, state, attempts, idempotency_key, request_hash,
                           request_params, request_query, request_body, counterparty,
                           amount_cents, is_distinguishable, external_id_hash, is_detached,
                           effective_from, next_action_at, source, requested_by, traceparent)
    SELECT ${accountId}::int, id, kind,
           CASE WHEN "isSending" THEN 'sending' ELSE ${unsentState} END::operation_state,
           "isSending"::int, "idempotencyKey", "requestHash", "requestParams", "requestQuery",
           "requestBody", counterparty, "amountCents"::bigint, "isDistinguishable",
           "externalIdHash", "isDetached", "effectiveFrom",
           clock_timestamp() + "nextActionInMs" * interval '1 millisecond', source, "requestedBy",
           traceparent
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      id uuid, kind text, "idempotencyKey" text, "requestHash" text, "requestParams" text,
      "requestQuery" text, "requestBody" text, counterparty text, "amountCents" text,
      "isDistinguishable" boolean, "externalIdHash" text, "isDetached" boolean,
      "effectiveFrom" timestamptz, "isSending" boolean, "nextActionInMs" float8,
      source operation_source, "requestedBy" text, traceparent text)`;
  const sent = rows.filter(({ isSending }) => isSending).map(({ id }) => ({ id }));
  const attempted = Prisma.sql`
    INSERT INTO operation_attempt (account_id, operation_id, number, send_by, clock_offset_ms,
      clock_offset_max_ms)
    SELECT ${accountId}::int, sent.id, 1,
           clock_timestamp() + ${sentWithinMs}::float8 * interval '1 millisecond',
           s.clock_offset_ms, s.clock_offset_max_ms
    FROM jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) AS sent(id uuid)
    LEFT JOIN statement_state s ON s.account_id = ${accountId} AND s.clock_measured_at IS NOT NULL`;
  return [
    { sql: stored, rows: rows.length },
    ...(sent.length > 0 ? [{ sql: attempted, rows: sent.length }] : []),
  ];
}
