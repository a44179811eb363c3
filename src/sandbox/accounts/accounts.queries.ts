import { invariant } from '../../platform/errors.js';
import type { Queryable } from '../sandbox-database.service.js';
import { bank, type SandboxAccount, type Party } from './party.js';

const customerAccounts = `
  SELECT id, branch, number, holder_name, holder_document, holder_type, street, city, state,
         zip_code, email
  FROM account WHERE kind = 'customer'`;

/** Customers' accounts by number. Unknown numbers are absent from the result. */
export async function findAccountsByNumber(
  database: Queryable,
  numbers: string[],
): Promise<Map<string, SandboxAccount>> {
  const accounts = await database.query<SandboxAccount>(
    `${customerAccounts} AND number = ANY($1)`,
    [numbers],
  );
  return new Map(accounts.map((account) => [account.number, account]));
}

export function findAccountByNumber(database: Queryable, number: string) {
  return database.find<SandboxAccount>(`${customerAccounts} AND number = $1`, [number]);
}

/** For callers inside a transaction, which must not use a second connection. */
export function findAccountById(database: Queryable, id: number | null) {
  return database.find<SandboxAccount>(`${customerAccounts} AND id = $1`, [id]);
}

export function findAccountByKeyHash(database: Queryable, keyHash: string) {
  return database.find<SandboxAccount>(
    `${customerAccounts} AND id = (SELECT account_id FROM api_key WHERE key_hash = $1)`,
    [keyHash],
  );
}

export function findAccountByPixKey(database: Queryable, key: string) {
  return database.find<SandboxAccount>(
    `${customerAccounts} AND id = (SELECT account_id FROM dict_key WHERE key = $1)`,
    [key],
  );
}

/** Every Pix key with its holder: those of this bank, account by account, then those of others. */
export async function listDictKeys(database: Queryable) {
  const rows = await database.query<{
    key: string;
    name: string | null;
    document: string | null;
    party: Party | null;
  }>(
    `SELECT dict_key.key, account.holder_name AS name, account.holder_document AS document,
       dict_key.party
     FROM dict_key LEFT JOIN account ON account.id = dict_key.account_id
     ORDER BY dict_key.account_id, dict_key.kind, dict_key.key`,
  );
  return rows.map(({ key, name, document, party }) => {
    if (party) return { key, holder: party.holder };
    invariant(name !== null && document !== null, 'a key has an account or a party');
    return { key, holder: { name, document } };
  });
}

/** The account of a Pix party, by number and branch. Null when unknown or at another bank. */
export async function findAccountOfParty(
  database: Queryable,
  { number, branch, participant }: Party,
): Promise<SandboxAccount | null> {
  if (participant.ispb !== bank.ispb) return null;
  const account = await findAccountByNumber(database, number);
  return account?.branch === branch ? account : null;
}
