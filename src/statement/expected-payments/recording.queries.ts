// Records expected payments with the references that tie lines to them, in the transaction of
// their operation: no line can arrive before its expected payment is recorded.
import type { SqlTx } from '../../platform/postgres/database.service.js';
import { writeTogether, type Write } from '../../platform/postgres/joined-writes.queries.js';
import { paymentTasksWrite } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { referencesOf, type NewExpectedPayment } from './expected-payment.js';
import {
  expectedPaymentsWrite,
  referencesWrite,
  type PaymentReference,
} from './expected-payments.queries.js';
import { metadataWrite } from './metadata.queries.js';
import type { Reference } from './references.js';
import { newId } from '../../platform/ids.js';

/** An operation and what it expects on the statement. */
export interface ExpectingOperation {
  operationId: string;
  kind: string;
  expected: readonly NewExpectedPayment[];
}

/** Returns the ids of the payments, in the order of `expected`. */
export async function recordExpectedPayments(
  tx: SqlTx,
  { accountId, ...operation }: { accountId: number; operationId: string; kind: string },
  expected: readonly NewExpectedPayment[],
): Promise<string[]> {
  const { ids, writes } = expectedPaymentWrites(accountId, [{ ...operation, expected }]);
  await writeTogether(tx, writes);
  return ids.flat();
}

/** Records the payments of several operations. `ids` has those of each, in the order of both. */
export function expectedPaymentWrites(
  accountId: number,
  operations: readonly ExpectingOperation[],
): { ids: string[][]; writes: Write[] } {
  const recorded = operations.map(({ expected, ...operation }) => {
    // A debit's line may carry the request's idempotency key, which is the operation's id. The
    // items of a batch share one key, so the key does not identify an item.
    const isOneDebit = expected.length === 1 && expected.every(({ isCredit }) => !isCredit);
    const ofRequest = isOneDebit ? referencesOf({ idempotency_key: operation.operationId }) : [];
    return expected.map(({ references, metadata = null, ...payment }) => ({
      payment: { id: newId(), ...payment, ...operation },
      references: [...references, ...ofRequest],
      metadata,
    }));
  });
  const all = recorded.flat();
  const ids = recorded.map((ofOperation) => ofOperation.map(({ payment }) => payment.id));
  if (all.length === 0) return { ids, writes: [] };
  const payments = all.map(({ payment }) => payment);
  const references = all.map(({ payment, references: ofPayment }) => {
    return { expectedPaymentId: payment.id, references: ofPayment };
  });
  const named = all.flatMap(({ payment, metadata }) =>
    metadata ? [{ expectedPaymentId: payment.id, metadata }] : [],
  );
  const writes = [
    expectedPaymentsWrite(accountId, payments),
    ...(named.length > 0 ? [metadataWrite(accountId, named)] : []),
    ...newReferencesWrites(accountId, references),
  ];
  return { ids, writes };
}

/** Payments with references that a line may carry. */
type Referenced = { expectedPaymentId: string; references: readonly Reference[] }[];

/** Adds references: ids that the bank reported later and that a line may carry. Idempotent. */
export async function addReferences(
  tx: SqlTx,
  accountId: number,
  payments: Referenced,
): Promise<void> {
  await writeTogether(tx, newReferencesWrites(accountId, payments));
}

function newReferencesWrites(accountId: number, payments: Referenced): Write[] {
  if (payments.length === 0) return [];
  const references = referenceRows(payments);
  // A line may carry the ids, or share the document of a new payment.
  const ids = payments.map(({ expectedPaymentId }) => expectedPaymentId);
  return [
    ...(references.length > 0 ? [referencesWrite(accountId, references)] : []),
    paymentTasksWrite(accountId, ids),
  ];
}

function referenceRows(payments: Referenced): PaymentReference[] {
  return payments.flatMap(({ expectedPaymentId, references }) =>
    references.map((reference) => ({ expectedPaymentId, ...reference })),
  );
}
