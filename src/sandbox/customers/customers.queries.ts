import { advisoryLocks } from '../../platform/advisory-locks.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

export interface CustomerRow {
  id: string;
  document: string;
  status: 'PROCESSING' | 'APPROVED';
  /** JSON text. */
  details: string;
  passwordHash: string;
  securityPasswordHash: string;
  createdAt: Date;
}

const firstNumber = 2_000_001;

/**
 * The next free account number. Concurrent openings of accounts wait until the transaction ends.
 */
export async function nextAccountNumber(tx: SandboxTx): Promise<string> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.numberSandboxAccounts]);
  const [row] = await tx.query<{ number: string }>(
    `SELECT (greatest(max(number::bigint) + 1, $1))::text AS number FROM account
     WHERE number ~ '^[0-9]{7,12}$' AND kind = 'customer'`,
    [firstNumber],
  );
  return row!.number;
}

export async function hasCustomer(database: Queryable, document: string): Promise<boolean> {
  const rows = await database.query('SELECT 1 FROM customer WHERE document = $1', [document]);
  return rows.length > 0;
}

/** False when the document has a customer. Waits for a concurrent insert of the same document. */
export async function insertCustomer(
  tx: SandboxTx,
  customer: CustomerRow,
  accountNumber: string,
): Promise<boolean> {
  const rows = await tx.query(
    `INSERT INTO customer (id, document, status, details, password_hash, security_password_hash,
                           account_id, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, account.id, $7, $7 FROM account WHERE number = $8
     ON CONFLICT (document) DO NOTHING RETURNING id`,
    [
      customer.id,
      customer.document,
      customer.status,
      customer.details,
      customer.passwordHash,
      customer.securityPasswordHash,
      customer.createdAt,
      accountNumber,
    ],
  );
  return rows.length > 0;
}

export interface ApprovedCustomer {
  id: string;
  document: string;
  name: string;
  branch: string;
  number: string;
}

/** Null when there is no such customer, or when the customer is no longer `PROCESSING`. */
export async function approveCustomer(
  tx: SandboxTx,
  id: string,
  at: Date,
): Promise<ApprovedCustomer | null> {
  const [row] = await tx.query<ApprovedCustomer>(
    `UPDATE customer SET status = 'APPROVED', updated_at = $2 FROM account
     WHERE customer.id = $1 AND customer.status = 'PROCESSING' AND account.id = customer.account_id
     RETURNING customer.id, customer.document,
       account.holder_name AS name, account.branch, account.number`,
    [id, at],
  );
  return row ?? null;
}
