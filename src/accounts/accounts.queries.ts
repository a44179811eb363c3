// The times of accounts and API keys that go by PostgreSQL's clock or the bank's.
import type { Db } from '../database.service.js';
import type { ApiKey } from '../generated/service/client.js';

/**
 * Stores the go-live of an account that has none: its creation, in bank time. `clockOffsetMs` is
 * the bank's clock minus PostgreSQL's. It is stored before the account's first line, if the bank
 * shows its clock with it.
 */
export async function recordGoLive(
  db: Db,
  accountId: number,
  clockOffsetMs: number,
): Promise<void> {
  await db.$executeRaw`
    UPDATE bank_account
    SET go_live_at = created_at + ${clockOffsetMs}::float8 * interval '1 millisecond'
    WHERE id = ${accountId} AND go_live_at IS NULL`;
}

/** The key with this hash, unless it was revoked or has expired. */
export async function findValidKey(
  db: Db,
  kind: string,
  hash: string,
): Promise<Pick<ApiKey, 'id' | 'accountId' | 'scopes'> | null> {
  const [found] = await db.$queryRaw<Pick<ApiKey, 'id' | 'accountId' | 'scopes'>[]>`
    SELECT id, account_id, scopes FROM api_key
    WHERE hash = ${hash} AND kind = ${kind} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp())`;
  return found ?? null;
}
