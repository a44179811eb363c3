// What should appear on the statement, with the references by which its lines will name it. Written with the
// operation that expects it, so that no line can come before its expectation.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../database.service.js';
import * as queries from './expected-payments.queries.js';
import type { Reference } from './references.js';

export { referenceKinds, type Reference, type ReferenceKind } from './references.js';

export interface NewExpectedPayment {
  isCredit: boolean;
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** Discount, fine and interest, written by `writeAdjustments`; null when there are none. */
  terms: string | null;
  /** Who is to pay or be paid, by `plainDocument`; null where nobody said. */
  counterpartyDocument?: string | null;
  /** Whether it may be paid many times, as a static QR code may. */
  isMultiUse: boolean;
  references: Reference[];
}

export interface Expecting {
  accountId: number;
  operationId: string;
  /** The kind of the operation. */
  kind: string;
}

@Injectable()
export class ExpectedPaymentsService {
  /** Records what an operation expects; the ids are in the order of `expected`. */
  async record(tx: Tx, expecting: Expecting, expected: NewExpectedPayment[]): Promise<string[]> {
    const rows = expected.map((payment) => ({
      id: uuidv7(),
      ...payment,
      references: [...payment.references, ...keyOf(expecting, expected)],
    }));
    if (rows.length === 0) return [];
    await queries.insertExpectedPayments(
      tx,
      expecting,
      rows.map(({ references: _, ...payment }) => payment),
    );
    const payments = rows.map(({ id, references }) => ({ expectedPaymentId: id, references }));
    await this.addReferencesToEach(tx, expecting.accountId, payments);
    return rows.map(({ id }) => id);
  }

  /** Ids that the bank has told since: its lines may name the payment by them. Those that are known stay. */
  async addReferences(
    tx: Tx,
    accountId: number,
    expectedPaymentId: string,
    references: Reference[],
  ): Promise<void> {
    await this.addReferencesToEach(tx, accountId, [{ expectedPaymentId, references }]);
  }

  async addReferencesToEach(
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
  }

  /** The bank did a part of what it was asked for: these will not come. */
  async withdrawEach(tx: Tx, accountId: number, ids: string[]): Promise<void> {
    await tx.expectedPayment.updateMany({
      where: { accountId, id: { in: ids }, withdrawnAt: null },
      data: { withdrawnAt: new Date() },
    });
  }

  /** The bank rejected the operation, or it was proven not executed: nothing will come. */
  async withdraw(tx: Tx, { accountId, operationId }: Omit<Expecting, 'kind'>): Promise<void> {
    await tx.expectedPayment.updateMany({
      where: { accountId, operationId, withdrawnAt: null },
      data: { withdrawnAt: new Date() },
    });
  }

  /** The statement shows what had been withdrawn of operations that are otherwise as they were. */
  async reinstateEach(tx: Tx, accountId: number, ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    await tx.expectedPayment.updateMany({
      where: { accountId, id: { in: ids } },
      data: { withdrawnAt: null },
    });
  }

  /** The statement shows what had been withdrawn: the rest of the operation may come too. */
  async reinstate(tx: Tx, accountId: number, operationIds: string[]): Promise<void> {
    if (operationIds.length === 0) return;
    await tx.expectedPayment.updateMany({
      where: { accountId, operationId: { in: operationIds } },
      data: { withdrawnAt: null },
    });
  }
}

/** A debit's line may tell the key that it was asked for with: the operation's id. A batch has one for all its items. */
function keyOf({ operationId }: Expecting, expected: readonly NewExpectedPayment[]): Reference[] {
  const [first, ...others] = expected;
  if (!first || first.isCredit || others.length > 0) return [];
  return [{ kind: 'idempotency_key', value: operationId }];
}
