// The SQL of what an intent is known by. A unique key decides between requests that come at once.
import type { Tx } from '../database.service.js';

interface Key {
  accountId: number;
  id: string;
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

/** Gives back all that an intent took: it lost the race for the rest, or never left. */
export async function freeIdentities(tx: Tx, { accountId, id }: Key): Promise<void> {
  await tx.operationIdentity.deleteMany({ where: { accountId, operationId: id } });
}

/** An intent had no effect: what it was known by may be asked for again; what was lent to repeats, as told. */
export async function freeNaturalIdentities(
  tx: Tx,
  { accountId, id }: Key,
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
