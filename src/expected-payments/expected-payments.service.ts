// Owns expected payments: what should appear on the statement, with the references that tie lines
// to them. Expected payments are recorded in the operation's transaction, so no line can arrive
// before its expected payment is recorded.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../database.service.js';
import { recordPaymentTasks } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import * as queries from './expected-payments.queries.js';
import type { ReinstatementKind, WithdrawalKind } from './facts.js';
import type { Reference } from './references.js';

export { referenceKinds, type Reference, type ReferenceKind } from './references.js';

export interface NewExpectedPayment extends queries.NewExpectedPaymentRow {
  references: Reference[];
}

/** The operation that expects the payments. */
export interface ExpectingOperation {
  accountId: number;
  operationId: string;
  /** The operation's kind. */
  kind: string;
}

@Injectable()
export class ExpectedPaymentsService {
  /**
   * Records the payments that an operation expects. Returns their ids in the order of `expected`.
   */
  async record(
    tx: Tx,
    operation: ExpectingOperation,
    expected: NewExpectedPayment[],
  ): Promise<string[]> {
    const payments = expected.map((payment) => ({
      id: uuidv7(),
      ...payment,
      references: [...payment.references, ...idempotencyKeyReference(operation, expected)],
    }));
    if (payments.length === 0) return [];
    await queries.insertExpectedPayments(
      tx,
      operation,
      payments.map(({ references: _, ...payment }) => payment),
    );
    await this.addReferencesToPayments(
      tx,
      operation.accountId,
      payments.map(({ id, references }) => ({ expectedPaymentId: id, references })),
    );
    return payments.map(({ id }) => id);
  }

  /** Adds references: ids that the bank reported later and that a line may carry. Idempotent. */
  async addReferences(
    tx: Tx,
    accountId: number,
    expectedPaymentId: string,
    references: Reference[],
  ): Promise<void> {
    await this.addReferencesToPayments(tx, accountId, [{ expectedPaymentId, references }]);
  }

  async addReferencesToPayments(
    tx: Tx,
    accountId: number,
    payments: { expectedPaymentId: string; references: Reference[] }[],
  ): Promise<void> {
    await queries.insertReferences(
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

  /** Records that no payment is expected any more. Payments that are withdrawn stay as they are. */
  async withdrawPayments(
    tx: Tx,
    accountId: number,
    ids: string[],
    kind: WithdrawalKind,
  ): Promise<void> {
    await queries.insertFacts(tx, accountId, { ids }, kind);
  }

  /** Withdraws all payments of an operation. */
  async withdraw(
    tx: Tx,
    { accountId, operationId }: Omit<ExpectingOperation, 'kind'>,
    kind: WithdrawalKind,
  ): Promise<void> {
    await queries.insertFacts(tx, accountId, { operationIds: [operationId] }, kind);
  }

  /** Records that single withdrawn payments are expected again. */
  async reinstatePayments(
    tx: Tx,
    accountId: number,
    ids: string[],
    kind: ReinstatementKind,
  ): Promise<void> {
    await queries.insertFacts(tx, accountId, { ids }, kind);
  }

  /**
   * Reinstates all payments of operations: the statement shows one of these payments although it
   * was withdrawn, so the others may appear too.
   */
  async reinstate(
    tx: Tx,
    accountId: number,
    operationIds: string[],
    kind: ReinstatementKind,
  ): Promise<void> {
    await queries.insertFacts(tx, accountId, { operationIds }, kind);
  }
}

/** The payment that an outgoing operation expects: one debit of exactly `amountCents`. */
export function expectedDebit(amountCents: bigint, references: Reference[]): NewExpectedPayment {
  return {
    isCredit: false,
    amountCents,
    dueDate: null,
    terms: null,
    isMultiUse: false,
    references,
  };
}

/**
 * A debit's line may carry the request's idempotency key, which is the operation's id. The items of
 * a batch share one key, so the key does not identify an item.
 */
function idempotencyKeyReference(
  { operationId }: ExpectingOperation,
  expected: readonly NewExpectedPayment[],
): Reference[] {
  const [first, ...others] = expected;
  if (!first || first.isCredit || others.length > 0) return [];
  return [{ kind: 'idempotency_key', value: operationId }];
}
