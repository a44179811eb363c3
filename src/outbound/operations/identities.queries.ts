// Writes the identities by which a repeat of an operation is recognized: the caller's key, a
// natural id, the hash of the request. The primary key decides between concurrent requests.
import type { SqlTx, Tx } from '../../platform/postgres/database.service.js';
import { Prisma, type OperationIdentity } from '../../generated/service/client.js';
import type { Write } from '../../platform/postgres/joined-writes.queries.js';
import type { OperationRef } from './operations.queries.js';

export type NewIdentity = Pick<OperationIdentity, 'identity' | 'isNatural' | 'isTemporary'>;

/** Releases temporary identities of operations that ended more than `joinWindowMs` ago. */
export async function releaseExpiredIdentities(
  tx: Tx,
  accountId: number,
  kind: string,
  identities: readonly NewIdentity[],
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

export interface IdentityClaim {
  operation: OperationRef & { kind: string };
  identities: readonly NewIdentity[];
}

/** Claims identities for operations of one account, unless another operation holds one of them. */
export function identitiesWrite(accountId: number, claims: readonly IdentityClaim[]): Write {
  const rows = claims.flatMap(({ operation: { id: operationId, kind }, identities }) =>
    identities.map((identity) => ({ kind, operationId, ...identity })),
  );
  // In one order, so that two transactions that claim the same identities cannot wait for each
  // other.
  const sql = Prisma.sql`
    INSERT INTO operation_identity (account_id, kind, identity, operation_id, is_natural,
                                    is_temporary)
    SELECT ${accountId}::int, kind, identity, "operationId", "isNatural", "isTemporary"
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(
      kind text, identity text, "operationId" uuid, "isNatural" boolean, "isTemporary" boolean)
    ORDER BY kind, identity
    ON CONFLICT DO NOTHING`;
  return { sql, rows: rows.length };
}

/** Claims identities for an operation; false when another operation holds one of them. */
export async function claimIdentities(
  tx: SqlTx,
  operation: IdentityClaim['operation'],
  identities: readonly NewIdentity[],
): Promise<boolean> {
  const { sql, rows } = identitiesWrite(operation.accountId, [{ operation, identities }]);
  return (await tx.$executeRaw(sql)) === rows;
}

/** Releases the identities of an operation, or some of them. */
export async function releaseIdentities(
  tx: Tx,
  { accountId, id }: OperationRef,
  which: Partial<Omit<NewIdentity, 'identity'>> = {},
): Promise<void> {
  await tx.operationIdentity.deleteMany({ where: { accountId, operationId: id, ...which } });
}
