import type { Queryable } from '../sandbox-database.service.js';
import type { BankAccount } from './bank-account.js';

const selected = `id, branch, number, holder_name AS "holderName", holder_document AS "holderDocument",
  holder_type AS "holderType", street, city, state, zip_code AS "zipCode", email`;

/** A customer's account, read where a transaction is open. */
export async function findAccountById(
  database: Queryable,
  id: number,
): Promise<BankAccount | null> {
  const [account] = await database.query<BankAccount>(
    `SELECT ${selected} FROM account WHERE id = $1 AND kind = 'customer'`,
    [id],
  );
  return account ?? null;
}

export async function findAccountByNumber(
  database: Queryable,
  { branch, number }: { branch: string; number: string },
): Promise<BankAccount | null> {
  const [account] = await database.query<BankAccount>(
    `SELECT ${selected} FROM account WHERE branch = $1 AND number = $2 AND kind = 'customer'`,
    [branch, number],
  );
  return account ?? null;
}
