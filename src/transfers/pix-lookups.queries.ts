// The SQL of look-ups. One is taken by a single guarded update: of many that reach for it at once, one gets it.
import type { Db, Tx } from '../database.service.js';

export interface Lookup {
  endToEndId: string;
  /** Where the key leads, `ispb/branch/number`. */
  counterparty: string;
  expiresAt: Date;
  /** The transfer that it began. */
  operationId: string | null;
}

export async function findLookup(
  db: Db,
  accountId: number,
  endToEndId: string,
): Promise<Lookup | null> {
  return db.pixLookup.findUnique({
    where: { accountId_endToEndId: { accountId, endToEndId } },
    select: { endToEndId: true, counterparty: true, expiresAt: true, operationId: true },
  });
}

/** False when it is not there, is taken, or has expired. */
export async function takeLookup(
  tx: Tx,
  accountId: number,
  endToEndId: string,
  operationId: string,
  now: Date,
): Promise<boolean> {
  const taken = await tx.$executeRaw`
    UPDATE pix_lookup SET operation_id = ${operationId}::uuid
    WHERE account_id = ${accountId} AND end_to_end_id = ${endToEndId}
      AND operation_id IS NULL AND expires_at > ${now}`;
  return taken === 1;
}

/** The bank refused the transfer that it began. */
export async function freeLookup(tx: Tx, accountId: number, operationId: string): Promise<void> {
  await tx.$executeRaw`
    UPDATE pix_lookup l SET operation_id = NULL
    FROM transfer t
    WHERE t.account_id = ${accountId} AND t.operation_id = ${operationId}::uuid
      AND l.account_id = t.account_id AND l.end_to_end_id = t.end_to_end_id
      AND l.operation_id = t.operation_id`;
}

/** The transfer that was taken for rejected was done after all. */
export async function takeLookupBack(
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
