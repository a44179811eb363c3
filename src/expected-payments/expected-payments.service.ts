// What should appear on the statement, with the references by which its lines will name it. Written with the
// operation that expects it, so that no line can come before its expectation.
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Tx } from '../database.service.js';

export const referenceKinds = ['correlation_id', 'end_to_end_id', 'external_id'] as const;
export type ReferenceKind = (typeof referenceKinds)[number];

export interface NewExpectedPayment {
  isCredit: boolean;
  /** Null when the payer chooses. */
  amountCents: bigint | null;
  /** yyyy-mm-dd, or null when there is none. */
  dueDate: string | null;
  /** Discount, fine and interest, written by `writeAdjustments`; null when there are none. */
  terms: string | null;
  /** Whether it may be paid many times, as a static QR code may. */
  isMultiUse: boolean;
  references: { kind: ReferenceKind; value: string }[];
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
    const rows = expected.map((payment) => ({ id: uuidv7(), ...payment }));
    await tx.expectedPayment.createMany({
      data: rows.map(({ references: _, ...payment }) => ({ ...expecting, ...payment })),
    });
    await tx.expectedPaymentReference.createMany({
      data: rows.flatMap(({ id, references }) =>
        references.map((reference) => ({
          accountId: expecting.accountId,
          expectedPaymentId: id,
          ...reference,
        })),
      ),
    });
    return rows.map(({ id }) => id);
  }

  /** The bank rejected the operation: nothing will come. */
  async withdraw(tx: Tx, { accountId, operationId }: Omit<Expecting, 'kind'>): Promise<void> {
    await tx.expectedPayment.updateMany({
      where: { accountId, operationId, withdrawnAt: null },
      data: { withdrawnAt: new Date() },
    });
  }
}
