// The journal's SQL. A state changes only from the states that may precede it, so that of two processes that
// reach for one operation a single one gets it.
import type { Db, Tx } from '../database.service.js';
import type { Operation, OperationState } from './operation.js';

export interface Key {
  accountId: number;
  id: string;
}

/** `received`: no byte of it ever left; `unknown`: an earlier attempt may have had its effect. */
export type ClaimableState = 'received' | 'unknown';

/** An attempt that this process alone may make. */
export interface Claim {
  attempt: number;
  from: ClaimableState;
}

/**
 * Takes an operation for one attempt, from the state in which its caller saw it and no other: who meant to
 * send for the first time must not send again what has meanwhile become unknown.
 */
export async function claimAttempt(
  db: Db,
  { accountId, id }: Key,
  from: ClaimableState,
  { leftWithinMs, leaseMs }: { leftWithinMs: number; leaseMs: number },
): Promise<Claim | null> {
  const [claim] = await db.$queryRaw<{ attempt: number }[]>`
    WITH claimed AS (
      UPDATE operation
      SET state = 'sending', attempts = attempts + 1, updated_at = now(),
          next_action_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = ${from}
      RETURNING account_id, id, attempts
    ), noted AS (
      INSERT INTO operation_attempt (account_id, operation_id, number, send_by, clock_offset_ms)
      SELECT c.account_id, c.id, c.attempts, clock_timestamp() + ${leftWithinMs} * interval '1 millisecond',
             COALESCE(s.clock_offset_ms, 0)
      FROM claimed c LEFT JOIN statement_state s ON s.account_id = c.account_id
    )
    SELECT attempts AS attempt FROM claimed`;
  return claim ? { ...claim, from } : null;
}

/** What one attempt came to. */
export interface AttemptEnd {
  number: number;
  /** The bank's; null where none came. */
  status: number | null;
  reason: string | null;
}

/** The operation, held for the rest of the transaction. */
export async function lock(tx: Tx, { accountId, id }: Key): Promise<Operation | null> {
  await tx.$queryRaw`
    SELECT 1 FROM operation WHERE account_id = ${accountId} AND id = ${id}::uuid FOR UPDATE`;
  const operation = await tx.operation.findUnique({ where: { accountId_id: { accountId, id } } });
  return operation as Operation | null;
}

export async function finishAttempt(
  tx: Tx,
  { accountId, id }: Key,
  outcome: OperationState,
  { number, status, reason }: AttemptEnd,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE operation_attempt
    SET finished_at = clock_timestamp(), outcome = ${outcome}, status = ${status}, reason = ${reason}
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid AND number = ${number}`;
}

/** Whether an attempt before this one ended without a word. */
export async function wasUnknownBefore(
  tx: Tx,
  { accountId, id }: Key,
  attempt: number,
): Promise<boolean> {
  const earlier = await tx.operationAttempt.findFirst({
    where: { accountId, operationId: id, outcome: 'unknown', number: { lt: attempt } },
    select: { number: true },
  });
  return earlier !== null;
}

/** What an operation becomes. */
export interface NewState {
  state: OperationState;
  reason: string | null;
  /** The bank's answer, to the letter; null where there is none. */
  response: { status: number; text: string } | null;
  bankReference: string | null;
  /** When an unfinished operation is looked at again; null for a final state. */
  pauseMs: number | null;
}

/** Writes what a locked operation becomes. Its end keeps its time while the state stays the same. */
export async function writeState(
  tx: Tx,
  { accountId, id }: Key,
  { state, reason, response, bankReference, pauseMs }: NewState,
  isDetached: boolean,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE operation
    SET state = ${state}, reason = ${reason}, response_status = ${response?.status ?? null},
        response_body = ${response?.text ?? null},
        bank_reference = COALESCE(bank_reference, ${bankReference}), is_detached = ${isDetached},
        next_action_at = clock_timestamp() + ${pauseMs}::float8 * interval '1 millisecond',
        ended_at = CASE WHEN ${pauseMs}::float8 IS NULL
          THEN CASE WHEN state = ${state} THEN ended_at ELSE clock_timestamp() END END,
        updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid`;
}

/** Nobody waits for its answer any more; one that has ended stays as it is. */
export async function detachUnended(db: Db, { accountId, id }: Key): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET is_detached = true
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state IN ('received', 'sending', 'unknown')`;
}

/** Whether the lease of its attempt has ended: the process that made it is gone. */
export async function isInterrupted(db: Db, { accountId, id }: Key): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'sending' AND next_action_at <= clock_timestamp()`;
  return found.length === 1;
}

/** The operation, if it is one that never left and its time has come. */
export async function findUnsent(db: Db, { accountId, id }: Key): Promise<Operation | null> {
  const due = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'received'
      AND next_action_at <= clock_timestamp()`;
  if (due.length === 0) return null;
  const operation = await db.operation.findUnique({ where: { accountId_id: { accountId, id } } });
  return operation as Operation | null;
}

/**
 * Takes an unknown operation for one look, if its time has come, and puts the next one off: of several processes
 * one looks, and one that dies while it looks is followed by another.
 */
export async function takeLook(
  db: Db,
  { accountId, id }: Key,
  pauseMs: number,
): Promise<Operation | null> {
  const taken = await db.$executeRaw`
    UPDATE operation SET next_action_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'unknown'
      AND next_action_at <= clock_timestamp()`;
  if (taken === 0) return null;
  const operation = await db.operation.findUnique({ where: { accountId_id: { accountId, id } } });
  return operation as Operation | null;
}

export async function postpone(db: Db, { accountId, id }: Key, pauseMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET next_action_at = clock_timestamp() + ${pauseMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'unknown'`;
}

/** Whether a byte of any of its attempts may have left. */
export async function hasPerhapsLeft(db: Db, { accountId, id }: Key): Promise<boolean> {
  const found = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation_attempt
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid
      AND (outcome, reason) IS DISTINCT FROM ('received', 'not_sent') LIMIT 1`;
  return found.length > 0;
}

/** Unfinished operations whose time has come, the oldest first, so many of each account: none waits for another's. */
export async function listDue(db: Db, limitOfAccount: number): Promise<Key[]> {
  return db.$queryRaw<Key[]>`
    SELECT account_id AS "accountId", id
    FROM (SELECT account_id, id, next_action_at,
                 row_number() OVER (PARTITION BY account_id ORDER BY next_action_at) AS place
          FROM operation WHERE next_action_at <= now()) due
    WHERE place <= ${limitOfAccount} ORDER BY next_action_at`;
}

export type NewOperation = Pick<
  Operation,
  | 'accountId'
  | 'id'
  | 'kind'
  | 'idempotencyKey'
  | 'requestHash'
  | 'requestParams'
  | 'requestQuery'
  | 'requestBody'
  | 'counterparty'
  | 'amountCents'
  | 'isDistinguishable'
  | 'isDetached'
  | 'effectiveFrom'
>;

export async function insertOperation(
  tx: Tx,
  operation: NewOperation,
  firstLookMs: number,
): Promise<void> {
  const { accountId, id, kind, idempotencyKey, requestHash } = operation;
  const { requestParams, requestQuery, requestBody, counterparty, amountCents } = operation;
  await tx.$executeRaw`
    INSERT INTO operation (account_id, id, kind, state, idempotency_key, request_hash, request_params,
                           request_query, request_body, counterparty, amount_cents, is_distinguishable, is_detached,
                           effective_from, next_action_at)
    VALUES (${accountId}, ${id}::uuid, ${kind}, 'received', ${idempotencyKey}, ${requestHash},
            ${requestParams}, ${requestQuery}, ${requestBody}, ${counterparty}, ${amountCents},
            ${operation.isDistinguishable}, ${operation.isDetached},
            ${operation.effectiveFrom?.toISOString() ?? null}::timestamptz,
            clock_timestamp() + ${firstLookMs} * interval '1 millisecond')`;
}
