// Refunds as business systems read them, by id or as a list.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { outgoingSettlement } from '../expected-payments/outgoing-settlement.js';
import type { Prisma, Refund } from '../generated/service/client.js';
import { acceptedResponse } from '../operations/operations.schema.js';
import { findByFirstId, isNsu, isUuid, type Page } from '../platform/listing.js';

const total = { select: { paidCents: true, reversedCents: true } } as const;

@Injectable()
export class RefundReading {
  constructor(private readonly database: Database) {}

  /**
   * Finds a refund by its operation's id, the bank's id of the refund, or its nsu. Throws
   * `not_found`.
   */
  async get(accountId: number, id: string) {
    const filter = isUuid(id) ? { id } : isNsu(id) ? { nsu: BigInt(id) } : { endToEndId: id };
    return findByFirstId([filter], (one) => this.read({ accountId, ...one }, 1));
  }

  /** Newest first; one row more than the page holds. */
  async list(
    accountId: number,
    { limit, after }: Page,
    { state, originalNsu }: Partial<Pick<Refund, 'state' | 'originalNsu'>>,
  ) {
    return this.read({ accountId, state, originalNsu, id: { lt: after ?? undefined } }, limit + 1);
  }

  private async read(where: Prisma.RefundWhereInput, take: number) {
    const refunds = await this.database.prisma.refund.findMany({
      where,
      orderBy: { id: 'desc' },
      take,
      include: {
        operation: { select: { state: true, responseBody: true } },
        expectedPayment: { select: { withdrawnAt: true, total } },
      },
    });
    return refunds.map(({ operation, expectedPayment, ...refund }) => ({
      ...refund,
      operationState: operation.state,
      amount: refund.amountCents,
      settlement: outgoingSettlement({
        ...(expectedPayment.total ?? { paidCents: 0n, reversedCents: 0n }),
        isWithdrawn: expectedPayment.withdrawnAt !== null,
      }),
      response: acceptedResponse(operation),
    }));
  }
}
