// Deletes the bodies of operations that ended long ago. Keys, hashes, states, amounts and times
// stay: they identify repeats and possible duplicates for ever.
import type { Db, Tx } from '../../platform/postgres/database.service.js';
import type { Operation } from './operation.js';

export type OldOperation = Pick<Operation, 'accountId' | 'id' | 'state' | 'responseBody'>;

/**
 * Operations that ended more than `days` ago and still have their bodies, the oldest first. Locks
 * them. An operation that an operator may still resend (`needs_operator`) is not among them.
 */
export async function lockOldOperations(
  tx: Tx,
  days: number,
  limit: number,
): Promise<OldOperation[]> {
  return tx.$queryRaw<OldOperation[]>`
    SELECT account_id, id, state, response_body FROM operation
    WHERE bodies_deleted_at IS NULL AND ended_at IS NOT NULL AND state <> 'needs_operator'
      AND ended_at < (SELECT clock_timestamp() - ${days} * interval '1 day')
    ORDER BY ended_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED`;
}

/** Deletes the requests of locked operations, and stores what stays of their responses. */
export async function deleteBodies(
  db: Db,
  operations: readonly Pick<Operation, 'accountId' | 'id' | 'responseBody'>[],
): Promise<void> {
  await db.$executeRaw`
    UPDATE operation o
    SET request_body = NULL, response_body = kept.response_body,
        bodies_deleted_at = clock_timestamp()
    FROM unnest(
      ${operations.map(({ accountId }) => accountId)}::int[],
      ${operations.map(({ id }) => id)}::uuid[],
      ${operations.map(({ responseBody }) => responseBody)}::text[]
    ) AS kept(account_id, id, response_body)
    WHERE o.account_id = kept.account_id AND o.id = kept.id`;
}
