import { advisoryLocks } from '../../platform/advisory-locks.js';
import type { SandboxTx } from '../sandbox-database.service.js';
import type { FixtureBill } from '../accounts/fixtures.js';

/** Locked until the transaction ends. */
export async function lockBankOpening(tx: SandboxTx): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.openSandboxAccounts]);
}

export async function isBankOpen(tx: SandboxTx): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM account LIMIT 1')).length > 0;
}

export async function insertApiKey(
  tx: SandboxTx,
  accountNumber: string,
  keyHash: string,
): Promise<void> {
  await tx.query(
    `INSERT INTO api_key (key_hash, account_id) SELECT $2, id FROM account WHERE number = $1
     ON CONFLICT (key_hash) DO NOTHING`,
    [accountNumber, keyHash],
  );
}

export async function insertFixtureDictKey(
  tx: SandboxTx,
  accountNumber: string,
  { kind, key }: { kind: string; key: string },
): Promise<void> {
  await tx.query(
    `INSERT INTO dict_key (key, kind, account_id) SELECT $2, $3, id FROM account WHERE number = $1`,
    [accountNumber, key, kind],
  );
}

export async function insertFixtureBill(tx: SandboxTx, bill: FixtureBill): Promise<void> {
  await tx.query(
    `INSERT INTO bill (bar_code, digitable_line, type, status, amount_cents, due_date,
                       is_allow_partial_payment, minimum_payment_cents, maximum_payment_cents)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      bill.barCode,
      bill.digitableLine,
      bill.type,
      bill.status,
      bill.amountCents,
      bill.dueDate,
      bill.isAllowPartialPayment,
      bill.minimumPaymentCents,
      bill.maximumPaymentCents,
    ],
  );
}
