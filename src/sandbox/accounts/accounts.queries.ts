import { bank } from '../bank-identity.js';
import type { Queryable } from '../sandbox-database.service.js';
import type { BankAccount } from './bank-account.js';
import type { Party } from './party.js';

const columns = `id, branch, number, holder_name AS "holderName", holder_document AS "holderDocument",
  holder_type AS "holderType", street, city, state, zip_code AS "zipCode", email`;

/** Customers' accounts by their numbers; numbers that are nobody's are left out. */
export async function findAccountsByNumber(
  database: Queryable,
  numbers: string[],
): Promise<Map<string, BankAccount>> {
  const rows = await database.query<BankAccount>(
    `SELECT ${columns} FROM account WHERE kind = 'customer' AND number = ANY($1)`,
    [numbers],
  );
  return new Map(rows.map((account) => [account.number, account]));
}

export async function findAccountsById(
  database: Queryable,
  ids: number[],
): Promise<Map<number, BankAccount>> {
  const rows = await database.query<BankAccount>(
    `SELECT ${columns} FROM account WHERE kind = 'customer' AND id = ANY($1)`,
    [ids],
  );
  return new Map(rows.map((account) => [account.id, account]));
}

/** A customer's account, read where a transaction is open and no second connection may be taken. */
export async function findAccountById(
  database: Queryable,
  id: number,
): Promise<BankAccount | null> {
  return (await findAccountsById(database, [id])).get(id) ?? null;
}

export async function findAccountByNumber(
  database: Queryable,
  number: string,
): Promise<BankAccount | null> {
  return (await findAccountsByNumber(database, [number])).get(number) ?? null;
}

/** The account that a side of a Pix names, by number and branch; null at another institution, or where there is none. */
export async function findAccountOfParty(
  database: Queryable,
  { number, branch, participant }: Party,
): Promise<BankAccount | null> {
  if (participant.ispb !== bank.ispb) return null;
  const account = await findAccountByNumber(database, number);
  return account?.branch === branch ? account : null;
}
