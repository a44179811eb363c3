// Writes the identities by which a repeat of an operation is recognized: the caller's key, a
// natural id, the hash of the request. The primary key decides between concurrent requests.
import type { Tx } from '../database.service.js';
import type { OperationRef } from './operations.queries.js';

export interface OperationIdentity {
  identity: string;
  /** Released when the bank rejects the operation. */
  isNatural: boolean;
  /** Released some time after the operation has ended. */
  isTemporary: boolean;
}

/** Releases temporary identities of operations that ended more than `joinWindowMs` ago. */
export async function releaseExpiredIdentities(
  tx: Tx,
  accountId: number,
  kind: string,
  identities: OperationIdentity[],
  joinWindowMs: number,
): Promise<void> {
  const temporary = identities.filter(({ isTemporary }) => isTemporary);
  if (temporary.length === 0) return;
  await tx.$executeRaw`
    DELETE FROM operation_identity i USING operation o
    WHERE i.account_id = ${accountId} AND i.kind = ${kind} AND i.is_temporary
      AND i.identity = ANY (${temporary.map(({ identity }) => identity)}::text[])
      AND o.account_id = i.account_id AND o.id = i.operation_id
      AND o.state IN ('succeeded', 'not_executed')
      AND o.ended_at < clock_timestamp() - ${joinWindowMs} * interval '1 millisecond'`;
}

/** Claims identities for an operation; false when another operation holds one of them. */
export async function claimIdentities(
  tx: Tx,
  { accountId, id }: OperationRef,
  kind: string,
  identities: OperationIdentity[],
): Promise<boolean> {
  const { count } = await tx.operationIdentity.createMany({
    data: identities.map((identity) => ({ accountId, kind, operationId: id, ...identity })),
    skipDuplicates: true,
  });
  return count === identities.length;
}

/** Releases every identity of an operation that was not stored or was never sent. */
export async function releaseIdentities(tx: Tx, { accountId, id }: OperationRef): Promise<void> {
  await tx.operationIdentity.deleteMany({ where: { accountId, operationId: id } });
}

/**
 * Releases the natural identities of an operation without effect, so that a corrected request can
 * use them. Temporary identities are released only with `alsoTemporary`. Otherwise a repeat gets
 * the stored result until they expire.
 */
export async function releaseNaturalIdentities(
  tx: Tx,
  { accountId, id }: OperationRef,
  { alsoTemporary }: { alsoTemporary: boolean },
): Promise<void> {
  await tx.operationIdentity.deleteMany({
    where: {
      accountId,
      operationId: id,
      isNatural: true,
      ...(alsoTemporary ? {} : { isTemporary: false }),
    },
  });
}
