// SQL of Pix key look-ups. One guarded update claims a look-up: of several concurrent claims,
// exactly one succeeds.
import type { Db, Tx } from '../database.service.js';

export interface PixKeyLookup {
  endToEndId: string;
  /** The account of the key: `ispb/branch/number`. */
  counterparty: string;
  expiresAt: Date;
  /** The operation of the transfer that uses the look-up; null while it is unused. */
  operationId: string | null;
}

export async function findPixKeyLookup(
  db: Db,
  accountId: number,
  endToEndId: string,
): Promise<PixKeyLookup | null> {
  return db.pixLookup.findUnique({
    where: { accountId_endToEndId: { accountId, endToEndId } },
    select: { endToEndId: true, counterparty: true, expiresAt: true, operationId: true },
  });
}

/**
 * Claims a look-up for an operation. False when the look-up does not exist, is used, or has
 * expired.
 */
export async function claimPixKeyLookup(
  tx: Tx,
  accountId: number,
  endToEndId: string,
  operationId: string,
  now: Date,
): Promise<boolean> {
  const claimed = await tx.$executeRaw`
    UPDATE pix_lookup SET operation_id = ${operationId}::uuid
    WHERE account_id = ${accountId} AND end_to_end_id = ${endToEndId}
      AND operation_id IS NULL AND expires_at > ${now}`;
  return claimed === 1;
}

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
