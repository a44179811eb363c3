// Records expected payments with the references that tie lines to them, in the transaction of
// their operation: no line can arrive before its expected payment is recorded.
import type { Tx } from '../database.service.js';
import { recordPaymentTasks } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { referencesOf, type NewExpectedPayment } from './expected-payment.js';
import { insertExpectedPayments, insertReferences } from './expected-payments.queries.js';
import type { Reference } from './references.js';
import { newId } from '../platform/ids.js';

/** Returns the ids of the payments, in the order of `expected`. */
export async function recordExpectedPayments(
  tx: Tx,
  operation: { accountId: number; operationId: string; kind: string },
  expected: NewExpectedPayment[],
): Promise<string[]> {
  if (expected.length === 0) return [];
  const payments = expected.map((payment) => ({ id: newId(), ...payment }));
  await insertExpectedPayments(
    tx,
    operation,
    payments.map(({ references: _, ...payment }) => payment),
  );
  // A debit's line may carry the request's idempotency key, which is the operation's id. The items
  // of a batch share one key, so the key does not identify an item.
  const isOneDebit = payments.length === 1 && payments.every(({ isCredit }) => !isCredit);
  const ofRequest = isOneDebit ? referencesOf({ idempotency_key: operation.operationId }) : [];
  await addReferences(
    tx,
    operation.accountId,
    payments.map(({ id, references }) => ({
      expectedPaymentId: id,
      references: [...references, ...ofRequest],
    })),
  );
  return payments.map(({ id }) => id);
}

/** Adds references: ids that the bank reported later and that a line may carry. Idempotent. */
export async function addReferences(
  tx: Tx,
  accountId: number,
  payments: { expectedPaymentId: string; references: Reference[] }[],
): Promise<void> {
  await insertReferences(
    tx,
    accountId,
    payments.flatMap(({ expectedPaymentId, references }) =>
      references.map((reference) => ({ expectedPaymentId, ...reference })),
    ),
  );
  // A line may carry the ids, or share the document of a new payment.
  const ids = payments.map(({ expectedPaymentId }) => expectedPaymentId);
  await recordPaymentTasks(tx, accountId, ids);
}
