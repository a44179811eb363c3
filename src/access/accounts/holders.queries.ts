// Who acts: an API key with those that came from it by rotation is one holder, and so is a person.
// Makers and approvers are compared by their holders, so that nobody is two of them by two keys.
import type { Db } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { invariant } from '../../platform/errors.js';
import { operatorIdOf } from './actor.js';

/** The holder of an actor, as SQL: null for a key that the account does not have. */
export function holderOfActor(accountId: number, actor: string): Prisma.Sql {
  if (operatorIdOf(actor) !== null) return Prisma.sql`${actor}::text`;
  return Prisma.sql`(
    SELECT holder FROM api_key WHERE account_id = ${accountId} AND id = ${actor}::uuid)`;
}

/** The holder of an actor of the account. */
export async function getHolder(db: Db, accountId: number, actor: string): Promise<string> {
  const [found] = await db.$queryRaw<{ holder: string | null }[]>`
    SELECT ${holderOfActor(accountId, actor)} AS holder`;
  invariant(found?.holder, 'the key of an authenticated caller is stored');
  return found.holder;
}

/** Locks keys of the account against a revocation, until the transaction ends. */
export async function lockKeys(db: Db, accountId: number, ids: readonly string[]): Promise<void> {
  await db.$queryRaw`
    SELECT 1 FROM api_key WHERE account_id = ${accountId} AND id = ANY (${[...ids]}::uuid[])
    ORDER BY id FOR SHARE`;
}

/**
 * Those of the keys whose holders may approve at this time. A key that has expired by its rotation
 * counts while a successor has the scope; a key that was revoked does not count.
 */
export async function listApprovingKeys(
  db: Db,
  accountId: number,
  ids: readonly string[],
): Promise<{ id: string }[]> {
  return db.$queryRaw<{ id: string }[]>`
    SELECT own.id FROM api_key own
    WHERE own.account_id = ${accountId} AND own.id = ANY (${[...ids]}::uuid[])
      AND own.revoked_at IS NULL AND EXISTS (
        SELECT FROM api_key valid
        WHERE valid.account_id = own.account_id AND valid.holder = own.holder
          AND valid.revoked_at IS NULL AND 'approve' = ANY (valid.scopes)
          AND COALESCE(valid.expires_at > clock_timestamp(), true))`;
}
