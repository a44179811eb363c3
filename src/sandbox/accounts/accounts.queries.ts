import type { Queryable } from '../sandbox-database.service.js';
import type { BankAccount } from './bank-account.js';

const columns = `id, branch, number, holder_name AS "holderName", holder_document AS "holderDocument",
  holder_type AS "holderType", street, city, state, zip_code AS "zipCode", email`;

/** A customer's account, read where a transaction is open and no second connection may be taken. */
export async function findAccountById(
  database: Queryable,
  id: number,
): Promise<BankAccount | null> {
  const [account] = await database.query<BankAccount>(
    `SELECT ${columns} FROM account WHERE id = $1 AND kind = 'customer'`,
    [id],
  );
  return account ?? null;
}

export async function findAccountByNumber(
  database: Queryable,
  number: string,
): Promise<BankAccount | null> {
  const [account] = await database.query<BankAccount>(
    `SELECT ${columns} FROM account WHERE number = $1 AND kind = 'customer'`,
    [number],
  );
  return account ?? null;
}
