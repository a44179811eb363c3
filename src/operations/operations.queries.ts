// The journal's SQL. A state changes only from the states that may precede it, so that of two processes that
// reach for one operation a single one gets it.
import type { Db, Tx } from '../database.service.js';
import type { Operation, OperationState } from './operation.js';

interface Key {
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
  { sendWithinMs, leaseMs }: { sendWithinMs: number; leaseMs: number },
): Promise<Claim | null> {
  const [claim] = await db.$queryRaw<{ attempt: number }[]>`
    WITH claimed AS (
      UPDATE operation
      SET state = 'sending', attempts = attempts + 1, updated_at = now(),
          next_action_at = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = ${from}
      RETURNING account_id, id, attempts
    ), noted AS (
      INSERT INTO operation_attempt (account_id, operation_id, number, send_by)
      SELECT account_id, id, attempts, clock_timestamp() + ${sendWithinMs} * interval '1 millisecond'
      FROM claimed
    )
    SELECT attempts AS attempt FROM claimed`;
  return claim ? { ...claim, from } : null;
}

/** What an attempt came to. */
export interface Conclusion {
  state: OperationState;
  status: number | null;
  body: string | null;
  reason: string | null;
  /** When an unfinished operation is looked at again; null for a final state. */
  nextActionMs: number | null;
}

/**
 * Writes what the attempt came to; false when the operation has moved on without it. A success that comes
 * after its lease, when the operation counts as unknown, is the evidence that was waited for.
 */
export async function concludeAttempt(
  tx: Tx,
  { accountId, id }: Key,
  attempt: number,
  { state, status, body, reason, nextActionMs }: Conclusion,
): Promise<boolean> {
  const updated = await tx.$executeRaw`
    UPDATE operation
    SET state = ${state}, response_status = ${status}, response_body = ${body}, reason = ${reason},
        next_action_at = clock_timestamp() + ${nextActionMs}::float8 * interval '1 millisecond',
        ended_at = CASE WHEN ${nextActionMs}::float8 IS NULL THEN clock_timestamp() END,
        is_detached = is_detached OR ${state} = 'unknown', updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND attempts = ${attempt}
      AND (state = 'sending'
        OR (state IN ('unknown', 'needs_operator', 'not_executed') AND ${state} = 'succeeded'))`;
  await tx.$executeRaw`
    UPDATE operation_attempt
    SET finished_at = clock_timestamp(), outcome = ${state}, status = ${status}, reason = ${reason}
    WHERE account_id = ${accountId} AND operation_id = ${id}::uuid AND number = ${attempt}`;
  return updated === 1;
}

/** An attempt whose process is gone may have been sent: its operation becomes unknown. */
export async function expireInterrupted(db: Db, { accountId, id }: Key): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET state = 'unknown', reason = 'interrupted', is_detached = true, updated_at = now(), next_action_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'sending' AND next_action_at <= now()`;
}

/** The operation, if its time has come. A stalled job that runs twice finds that the first has put it off. */
export async function findDue(db: Db, { accountId, id }: Key): Promise<Operation | null> {
  const due = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM operation
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND next_action_at <= clock_timestamp()`;
  if (due.length === 0) return null;
  const operation = await db.operation.findUnique({ where: { accountId_id: { accountId, id } } });
  return operation as Operation | null;
}

/** Ends an unknown operation by evidence, or hands it to the operator. */
export async function endUnknown(
  db: Db,
  { accountId, id }: Key,
  state: 'succeeded' | 'needs_operator',
  reason: string,
): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET state = ${state}, reason = ${reason}, next_action_at = NULL, ended_at = clock_timestamp(),
      updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'unknown'`;
}

/** Ends an operation that nobody knew the end of, by evidence that came from elsewhere. */
export async function adopt(tx: Tx, { accountId, id }: Key, reason: string): Promise<boolean> {
  const adopted = await tx.$executeRaw`
    UPDATE operation SET state = 'succeeded', reason = ${reason}, next_action_at = NULL,
      ended_at = clock_timestamp(), updated_at = now()
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state IN ('unknown', 'needs_operator')`;
  return adopted === 1;
}

export async function postpone(db: Db, { accountId, id }: Key, delayMs: number): Promise<void> {
  await db.$executeRaw`
    UPDATE operation SET next_action_at = clock_timestamp() + ${delayMs} * interval '1 millisecond'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'unknown'`;
}

/** Whether a line of the statement was matched to what the operation expects. */
export async function isSeenOnStatement(db: Db, { accountId, id }: Key): Promise<boolean> {
  const [found] = await db.$queryRaw<{ seen: boolean }[]>`
    SELECT EXISTS (
      SELECT 1 FROM expected_payment e
      JOIN match m ON m.account_id = e.account_id AND m.expected_payment_id = e.id AND m.unlinked_at IS NULL
      WHERE e.account_id = ${accountId} AND e.operation_id = ${id}::uuid
    ) AS seen`;
  return found?.seen ?? false;
}

/** Unfinished operations whose time has come, the oldest first. */
export async function listDue(db: Db, limit: number): Promise<Key[]> {
  return db.$queryRaw<Key[]>`
    SELECT account_id AS "accountId", id FROM operation
    WHERE next_action_at <= now() ORDER BY next_action_at LIMIT ${limit}`;
}

export interface Identity {
  identity: string;
  /** Freed when the bank rejects. */
  isNatural: boolean;
  /** Freed some time after the operation has ended. */
  isTemporary: boolean;
}

/** Frees what the same request was known by, long enough after its operation has ended. */
export async function freeOutlived(
  tx: Tx,
  accountId: number,
  kind: string,
  identities: Identity[],
  joinedForMs: number,
): Promise<void> {
  const temporary = identities.filter(({ isTemporary }) => isTemporary);
  if (temporary.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM operation_identity i USING operation o
    WHERE i.account_id = ${accountId} AND i.kind = ${kind} AND i.is_temporary
      AND i.identity = ANY (${temporary.map(({ identity }) => identity)}::text[])
      AND o.account_id = i.account_id AND o.id = i.operation_id
      AND o.state IN ('succeeded', 'not_executed')
      AND o.ended_at < clock_timestamp() - ${joinedForMs} * interval '1 millisecond'`;
}

export async function findByIdentities(
  tx: Tx,
  accountId: number,
  kind: string,
  identities: Identity[],
): Promise<{ identity: string; operationId: string }[]> {
  return tx.operationIdentity.findMany({
    where: { accountId, kind, identity: { in: identities.map(({ identity }) => identity) } },
    select: { identity: true, operationId: true },
  });
}

/** Ties identities to an operation; false when another operation took one of them in between. */
export async function takeIdentities(
  tx: Tx,
  { accountId, id }: Key,
  kind: string,
  identities: Identity[],
): Promise<boolean> {
  const { count } = await tx.operationIdentity.createMany({
    data: identities.map((identity) => ({ accountId, kind, operationId: id, ...identity })),
    skipDuplicates: true,
  });
  return count === identities.length;
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
  | 'isDetached'
> & { isToldApart: boolean };

export async function insertOperation(
  tx: Tx,
  operation: NewOperation,
  firstLookMs: number,
): Promise<void> {
  const { accountId, id, kind, idempotencyKey, requestHash } = operation;
  const { requestParams, requestQuery, requestBody, counterparty, amountCents } = operation;
  await tx.$executeRaw`
    INSERT INTO operation (account_id, id, kind, state, idempotency_key, request_hash, request_params,
                           request_query, request_body, counterparty, amount_cents, is_told_apart, is_detached,
                           next_action_at)
    VALUES (${accountId}, ${id}::uuid, ${kind}, 'received', ${idempotencyKey}, ${requestHash},
            ${requestParams}, ${requestQuery}, ${requestBody}, ${counterparty}, ${amountCents},
            ${operation.isToldApart}, ${operation.isDetached},
            clock_timestamp() + ${firstLookMs} * interval '1 millisecond')`;
}

/** Gives back what an intent took before it lost the race for the rest. */
export async function freeIdentities(tx: Tx, { accountId, id }: Key): Promise<void> {
  await tx.operationIdentity.deleteMany({ where: { accountId, operationId: id } });
}

/** A rejected intent had no effect: what it was known by may be asked for again. */
export async function freeNaturalIdentity(tx: Tx, { accountId, id }: Key): Promise<void> {
  await tx.operationIdentity.deleteMany({ where: { accountId, operationId: id, isNatural: true } });
}
