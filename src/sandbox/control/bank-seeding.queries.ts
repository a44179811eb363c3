import { advisoryLocks } from '../../platform/advisory-locks.js';
import type { SandboxTx } from '../sandbox-database.service.js';

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
