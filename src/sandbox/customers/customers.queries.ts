import type { SandboxTx } from '../sandbox-database.service.js';

const firstNumber = 2_000_001;

/** The next free account number. Concurrent openings wait until the transaction ends. */
export async function nextAccountNumber(tx: SandboxTx): Promise<string> {
  await tx.lockAdvisory('numberSandboxAccounts');
  const [row] = await tx.query<{ number: string }>(
    `SELECT (greatest(max(number::bigint) + 1, $1))::text AS number FROM account
     WHERE number ~ '^[0-9]{7,12}$' AND kind = 'customer'`,
    [firstNumber],
  );
  return row!.number;
}

export interface DecidedCustomer {
  id: string;
  document: string;
  name: string;
  branch: string;
  number: string;
}

export type CustomerDecision = 'APPROVED' | 'REJECTED';

/** Null when there is no such customer, or when the customer is no longer `PROCESSING`. */
export function decideCustomer(tx: SandboxTx, id: string, status: CustomerDecision, at: Date) {
  return tx.find<DecidedCustomer>(
    `UPDATE customer SET status = $3, updated_at = $2 FROM account
     WHERE customer.id = $1 AND customer.status = 'PROCESSING' AND account.id = customer.account_id
     RETURNING customer.id, customer.document,
       account.holder_name AS name, account.branch, account.number`,
    [id, at, status],
  );
}
