// What shows that another service uses the key of a bank account.
import type { Db, Reader } from '../../platform/postgres/database.service.js';
import type { BankAccount, StatementLine } from '../../generated/service/client.js';

export type SuspectDebit = Pick<StatementLine, 'nsu' | 'idempotencyKey' | 'externalId'> &
  Pick<BankAccount, 'slug' | 'installation'> & {
    /** When the database was last set back, since 1970: until then, it may have lost operations. */
    restoredAtMs: number | null;
  };

const maxDebits = 1_000;

/** Unrequested debits with ids, of live accounts, that were found since a person released them. */
export async function listSuspectDebits(db: Reader): Promise<SuspectDebit[]> {
  return db.$queryRaw`
    SELECT l.nsu, l.idempotency_key, l.external_id, a.slug, a.installation,
           (SELECT extract(epoch FROM max(restored_at))::float8 * 1000 FROM account_restore
            WHERE account_id = a.id) AS "restoredAtMs"
    FROM bank_account a
    CROSS JOIN LATERAL (
      SELECT max(created_at) AS at FROM account_mode_change
      WHERE account_id = a.id AND mode = 'live' AND former_mode <> 'live'
    ) released
    CROSS JOIN LATERAL (
      SELECT nsu, opened_at FROM break
      WHERE account_id = a.id AND kind = 'unrequested_debit' AND state = 'open' OFFSET 0
    ) b
    CROSS JOIN LATERAL (
      SELECT nsu, idempotency_key, external_id FROM statement_line
      WHERE account_id = a.id AND nsu = b.nsu OFFSET 0
    ) l
    WHERE a.mode = 'live' AND (released.at IS NULL OR b.opened_at > released.at)
      AND (l.idempotency_key IS NOT NULL OR l.external_id IS NOT NULL)
    LIMIT ${maxDebits}`;
}

/** Whether an operation, or a transfer, of any account has one of these uuids. */
export async function isInJournal(db: Db, ids: readonly string[]): Promise<boolean> {
  const [found] = await db.$queryRaw<{ isKnown: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM bank_account a
      CROSS JOIN unnest(${[...ids]}::text[]) AS given(id)
      WHERE EXISTS (
          SELECT FROM operation WHERE account_id = a.id AND id = given.id::uuid)
        OR EXISTS (
          SELECT FROM transfer WHERE account_id = a.id AND external_id = given.id)) AS "isKnown"`;
  return found?.isKnown === true;
}

const sampledLines = 1_000;

/** Live accounts whose bank lists no registrations, and whose debits show none of our ids. */
export async function countUndetectable(db: Db): Promise<number> {
  const [counted] = await db.$queryRaw<{ accounts: number }[]>`
    SELECT count(*)::int AS accounts FROM bank_account a
    WHERE a.mode = 'live' AND NOT a.lists_registrations AND NOT EXISTS (
      SELECT FROM (
        (SELECT is_credit FROM statement_line
         WHERE account_id = a.id AND idempotency_key IS NOT NULL LIMIT ${sampledLines})
        UNION ALL
        (SELECT is_credit FROM statement_line
         WHERE account_id = a.id AND external_id IS NOT NULL LIMIT ${sampledLines})
      ) shown WHERE NOT is_credit)`;
  return counted?.accounts ?? 0;
}

/** The same for processes on one database, and no other database has it, not even a copy. */
export async function readNameOfDatabase(db: Db): Promise<string> {
  const [named] = await db.$queryRaw<{ name: string }[]>`
    SELECT md5(extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid) AS name
    FROM pg_database WHERE datname = current_database()`;
  return named?.name ?? '';
}
