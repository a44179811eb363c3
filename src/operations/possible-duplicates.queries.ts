// Finds the operation that a request for outgoing money may repeat. The locks serialize the check,
// so that each of two concurrent requests sees the other.
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { advisoryLocks } from '../platform/advisory-locks.js';
import type { NewOperation } from './operations.queries.js';

/** Serializes all requests of the account. */
export async function lockPossibleDuplicates(tx: Tx, accountId: number): Promise<void> {
  const { possibleDuplicates } = advisoryLocks;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${possibleDuplicates}::int, ${accountId}::int)`;
}

/** Serializes requests that are the same. */
export async function lockSameRequest(tx: Tx, requestHash: string): Promise<void> {
  const { sameRequest } = advisoryLocks;
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${sameRequest}::int, hashtext(${requestHash}))`;
}

export interface DuplicateTimes {
  /** From this age, an operation that is being sent may be retried with a new key. */
  sendingForMs: number;
  /** For how long the same request with the same externalId is refused after a success. */
  sameRequestForMs: number;
  /** For how long a similar request is one after a success; null: never. */
  similarForMs: number | null;
}

/**
 * The operation that a new operation may repeat: the one for which it is refused first, then the
 * oldest. See PossibleDuplicates. `isRefused` is false if the operation is only similar and
 * succeeded or was created less than `sendingForMs` ago.
 */
export async function findPossibleDuplicate(
  db: Db,
  of: NewOperation,
  { sendingForMs, sameRequestForMs, similarForMs }: DuplicateTimes,
): Promise<{ id: string; isRefused: boolean } | null> {
  const isJustCreated = Prisma.sql`(o.state IN ('received', 'sending')
    AND o.created_at >= clock_timestamp() - ${sendingForMs} * interval '1 millisecond')`;
  const hasSucceededWithin = (ms: number | null) => Prisma.sql`(o.state = 'succeeded'
    AND o.ended_at > clock_timestamp() - ${ms}::float8 * interval '1 millisecond')`;
  const isSame = Prisma.sql`(${of.hasExternalId} AND o.request_hash = ${of.requestHash})`;
  const [found] = await db.$queryRaw<{ id: string; isRefused: boolean }[]>`
    SELECT o.id, ${isSame} OR o.state <> 'succeeded' AND NOT ${isJustCreated} AS "isRefused"
    FROM operation o
    WHERE o.account_id = ${of.accountId} AND o.kind = ${of.kind}
      -- An account of the bank itself is written as its number alone or in full.
      AND (o.counterparty IN (${of.counterparty}, split_part(${of.counterparty}, '/', 3))
        OR split_part(o.counterparty, '/', 3) = ${of.counterparty})
      AND o.amount_cents = ${of.amountCents}
      AND (${isSame}
        AND (o.state IN ('received', 'sending', 'unknown', 'needs_operator')
          OR ${hasSucceededWithin(sameRequestForMs)})
        OR NOT (o.is_distinguishable AND ${of.isDistinguishable})
        AND (o.state IN ('unknown', 'needs_operator')
          OR (o.state IN ('received', 'sending')
              AND (${similarForMs}::float8 IS NOT NULL OR NOT ${isJustCreated}))
          OR ${hasSucceededWithin(similarForMs)}))
    ORDER BY "isRefused" DESC, o.created_at, o.id LIMIT 1`;
  return found ?? null;
}
