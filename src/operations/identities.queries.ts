// Writes the identities by which a repeat of an operation is recognized: the caller's key, a
// natural id, the hash of the request. The primary key decides between concurrent requests.
import type { Tx } from '../database.service.js';
import type { OperationIdentity } from '../generated/service/client.js';
import type { OperationRef } from './operations.queries.js';

export type NewIdentity = Pick<OperationIdentity, 'identity' | 'isNatural' | 'isTemporary'>;

/** Releases temporary identities of operations that ended more than `joinWindowMs` ago. */
export async function releaseExpiredIdentities(
  tx: Tx,
  accountId: number,
  kind: string,
  identities: NewIdentity[],
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
  identities: NewIdentity[],
): Promise<boolean> {
  const { count } = await tx.operationIdentity.createMany({
    data: identities.map((identity) => ({ accountId, kind, operationId: id, ...identity })),
    skipDuplicates: true,
  });
  return count === identities.length;
}

/** Releases the identities of an operation, or some of them. */
export async function releaseIdentities(
  tx: Tx,
  { accountId, id }: OperationRef,
  which: Partial<Omit<NewIdentity, 'identity'>> = {},
): Promise<void> {
  await tx.operationIdentity.deleteMany({ where: { accountId, operationId: id, ...which } });
}
