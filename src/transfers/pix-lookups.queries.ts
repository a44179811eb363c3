// SQL of Pix key look-ups, for transfers whose outcome changes whether their look-up is used.
import type { Tx } from '../database.service.js';
import type { OperationRef } from '../operations/operations.queries.js';

/** Releases the look-up of a rejected transfer, so that it may start another transfer. */
export async function releasePixKeyLookup(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = NULL
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${id}::uuid
      AND l.account_id = t.account_id AND l.end_to_end_id = t.end_to_end_id
      AND l.operation_id = t.operation_id`;
}

/** Claims a released look-up again: its transfer was recorded as rejected, but was executed. */
export async function reclaimPixKeyLookup(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = t.operation_id
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${id}::uuid AND t.shape = 'key'
      AND l.account_id = t.account_id AND l.end_to_end_id = t.end_to_end_id
      AND l.operation_id IS NULL`;
}
