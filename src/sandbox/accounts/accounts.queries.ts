import type { Queryable } from '../sandbox-database.service.js';
import { bank, type SandboxAccount, type Party } from './party.js';

const columns = `id, branch, number,
  holder_name AS "holderName", holder_document AS "holderDocument", holder_type AS "holderType",
  street, city, state, zip_code AS "zipCode", email`;

/** Customers' accounts by number. Unknown numbers are absent from the result. */
export async function findAccountsByNumber(
  database: Queryable,
  numbers: string[],
): Promise<Map<string, SandboxAccount>> {
  const rows = await database.query<SandboxAccount>(
    `SELECT ${columns} FROM account WHERE kind = 'customer' AND number = ANY($1)`,
    [numbers],
  );
  return new Map(rows.map((account) => [account.number, account]));
}

export async function findAccountsById(
  database: Queryable,
  ids: number[],
): Promise<Map<number, SandboxAccount>> {
  const rows = await database.query<SandboxAccount>(
    `SELECT ${columns} FROM account WHERE kind = 'customer' AND id = ANY($1)`,
    [ids],
  );
  return new Map(rows.map((account) => [account.id, account]));
}

/**
 * A customer's account, for callers inside a transaction: they must not use a second connection.
 */
export async function findAccountById(
  database: Queryable,
  id: number,
): Promise<SandboxAccount | null> {
  return (await findAccountsById(database, [id])).get(id) ?? null;
}

export async function findAccountByNumber(
  database: Queryable,
  number: string,
): Promise<SandboxAccount | null> {
  return (await findAccountsByNumber(database, [number])).get(number) ?? null;
}

/**
 * The account of a Pix party, by number and branch. Null at another institution, or when unknown.
 */
export async function findAccountOfParty(
  database: Queryable,
  { number, branch, participant }: Party,
): Promise<SandboxAccount | null> {
  if (participant.ispb !== bank.ispb) return null;
  const account = await findAccountByNumber(database, number);
  return account?.branch === branch ? account : null;
}

export interface SandboxAccountBalance {
  balanceCents: bigint;
  blockedCents: bigint;
}

/** Null when there is no such customer. */
export async function findAccountBalance(
  database: Queryable,
  accountId: number,
): Promise<SandboxAccountBalance | null> {
  const [balance] = await database.query<SandboxAccountBalance>(
    `SELECT balance_cents AS "balanceCents", blocked_cents AS "blockedCents"
     FROM account WHERE id = $1 AND kind = 'customer'`,
    [accountId],
  );
  return balance ?? null;
}
