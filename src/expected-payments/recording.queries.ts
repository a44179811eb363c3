// Records expected payments with the references that tie lines to them, in the transaction of
// their operation: no line can arrive before its expected payment is recorded.
import type { Tx } from '../database.service.js';
import { recordPaymentTasks } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { referencesOf, type NewExpectedPayment } from './expected-payment.js';
import { insertExpectedPayments, insertReferences } from './expected-payments.queries.js';
import type { Reference } from './references.js';
import { newId } from '../platform/ids.js';

/** An operation and what it expects on the statement. */
export interface ExpectingOperation {
  operationId: string;
  kind: string;
  expected: readonly NewExpectedPayment[];
}

/** Returns the ids of the payments, in the order of `expected`. */
export async function recordExpectedPayments(
  tx: Tx,
  { accountId, ...operation }: { accountId: number; operationId: string; kind: string },
  expected: readonly NewExpectedPayment[],
): Promise<string[]> {
  const [ids = []] = await recordAllExpectedPayments(tx, accountId, [{ ...operation, expected }]);
  return ids;
}

/** Records the payments of several operations. Returns the ids of each, in the order of both. */
export async function recordAllExpectedPayments(
  tx: Tx,
  accountId: number,
  operations: readonly ExpectingOperation[],
): Promise<string[][]> {
  const recorded = operations.map(({ expected, ...operation }) => {
    // A debit's line may carry the request's idempotency key, which is the operation's id. The
    // items of a batch share one key, so the key does not identify an item.
    const isOneDebit = expected.length === 1 && expected.every(({ isCredit }) => !isCredit);
    const ofRequest = isOneDebit ? referencesOf({ idempotency_key: operation.operationId }) : [];
    return expected.map(({ references, ...payment }) => ({
      payment: { ...payment, ...operation, id: newId() },
      references: [...references, ...ofRequest],
    }));
  });
  const all = recorded.flat();
  if (all.length > 0) {
    await insertExpectedPayments(
      tx,
      accountId,
      all.map(({ payment }) => payment),
    );
    await addReferences(
      tx,
      accountId,
      all.map(({ payment, references }) => ({ expectedPaymentId: payment.id, references })),
    );
  }
  return recorded.map((ofOperation) => ofOperation.map(({ payment }) => payment.id));
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
