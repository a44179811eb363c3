// The look-ups that authenticate callers, and the times of accounts that go by PostgreSQL's clock
// or the bank's.
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';
import { Prisma, type ApiKey, type BankAccount } from '../../generated/service/client.js';

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

type AccountRow = Pick<BankAccount, 'id' | 'slug' | 'goLiveAt'>;

/** The account with this slug, if it has that identity at the bank. */
export async function findRecordedAccount(
  db: SqlTx,
  slug: string,
  bankIdentity: string,
): Promise<AccountRow | null> {
  const [account] = await db.$queryRaw<AccountRow[]>`
    SELECT id, slug, go_live_at FROM bank_account
    WHERE slug = ${slug} AND bank_identity = ${bankIdentity}`;
  return account ?? null;
}

/** Oldest first. */
export async function listAccountRows(db: SqlTx): Promise<AccountRow[]> {
  return db.$queryRaw<AccountRow[]>`SELECT id, slug, go_live_at FROM bank_account ORDER BY id`;
}

/** The valid keys of the settings. */
export async function listSettingsKeys(
  db: SqlTx,
): Promise<Pick<ApiKey, 'kind' | 'hash' | 'scopes'>[]> {
  return db.$queryRaw<Pick<ApiKey, 'kind' | 'hash' | 'scopes'>[]>`
    SELECT kind, hash, scopes FROM api_key WHERE origin = 'settings' AND revoked_at IS NULL`;
}

/** A key, and the weight of its account. */
export type ValidKey = Pick<ApiKey, 'id' | 'accountId' | 'kind' | 'hash' | 'scopes'> &
  Pick<BankAccount, 'weight'>;

/** What a call to the bank depends on. */
export type CalledAccount = Pick<
  BankAccount,
  'id' | 'slug' | 'goLiveAt' | 'origin' | 'credentials' | 'mode' | 'registersWebhooks'
>;

/** The columns of a called account, of `bank_account a`. */
export const calledAccountColumns = Prisma.sql`
  a.id, a.slug, a.go_live_at, a.origin, a.credentials, a.mode, a.registers_webhooks`;

/** A statement that reads called accounts. */
export const calledAccountsWith = (ids: readonly number[]): Prisma.Sql => Prisma.sql`
  SELECT ${calledAccountColumns} FROM bank_account a WHERE id = ANY(${[...ids]}::int[])`;

export async function findCalledAccounts(
  db: SqlTx,
  ids: readonly number[],
): Promise<CalledAccount[]> {
  return db.$queryRaw<CalledAccount[]>`SELECT * FROM (${calledAccountsWith(ids)}) called`;
}

/** What authenticates the webhooks of an account. */
export type WebhookAccount = Pick<
  BankAccount,
  'id' | 'slug' | 'goLiveAt' | 'origin' | 'credentials'
>;

/** The accounts with these slugs. */
export async function findWebhookAccounts(
  db: SqlTx,
  slugs: readonly string[],
): Promise<WebhookAccount[]> {
  return db.$queryRaw<Pick<BankAccount, 'id' | 'slug' | 'goLiveAt' | 'origin' | 'credentials'>[]>`
    SELECT id, slug, go_live_at, origin, credentials FROM bank_account
    WHERE slug = ANY(${slugs}::text[])`;
}

/** The keys with these hashes, without those that were revoked or have expired. */
export async function findValidKeys(db: SqlTx, hashes: readonly string[]): Promise<ValidKey[]> {
  return db.$queryRaw<ValidKey[]>`
    SELECT k.id, k.account_id, k.kind, k.hash, k.scopes, a.weight
    FROM api_key k JOIN bank_account a ON a.id = k.account_id
    WHERE k.hash = ANY(${hashes}::text[]) AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp())`;
}
