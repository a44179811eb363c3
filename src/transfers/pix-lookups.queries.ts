// SQL of Pix key look-ups, for transfers whose outcome changes whether their look-up is used.
import type { Tx } from '../database.service.js';

/** Makes the look-up of a rejected transfer usable again. */
export async function releasePixKeyLookup(
  tx: Tx,
  accountId: number,
  operationId: string,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = NULL
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${operationId}::uuid
      AND l.account_id = t.account_id AND l.end_to_end_id = t.end_to_end_id
      AND l.operation_id = t.operation_id`;
}

/** Claims a released look-up again: its transfer was recorded as rejected, but was executed. */
export async function reclaimPixKeyLookup(
  tx: Tx,
  accountId: number,
  operationId: string,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = t.operation_id
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${operationId}::uuid AND t.shape = 'key'
      AND l.account_id = t.account_id AND l.end_to_end_id = t.end_to_end_id
      AND l.operation_id IS NULL`;
}
