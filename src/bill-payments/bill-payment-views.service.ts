// Bill payments as business systems read them: the request, the bank's response, and the statement
// lines matched to it.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { listMatchedLines, type MatchedLine } from '../expected-payments/matched-lines.queries.js';
import { outgoingSettlement, outgoingTotals } from '../expected-payments/outgoing-settlement.js';
import type { BillPayment, Prisma } from '../generated/service/client.js';
import { acceptedResponse } from '../operations/operations.schema.js';
import { findByFirstId, isUuid, type Page } from '../platform/listing.js';
import { findBarCode } from './bill-rules.js';

const include = {
  operation: { select: { state: true, responseBody: true } },
  expectedPayment: { select: { withdrawnAt: true } },
} satisfies Prisma.BillPaymentInclude;

type StoredBillPayment = Prisma.BillPaymentGetPayload<{ include: typeof include }>;

@Injectable()
export class BillPaymentViews {
  constructor(private readonly database: Database) {}

  /**
   * Finds a payment by its operation's id, the bank's id, or the bill's code: the newest payment of
   * that bill. Throws `not_found`.
   */
  async get(accountId: number, id: string) {
    const barCode = findBarCode(id);
    const ids = [
      ...(isUuid(id) ? [{ id }] : []),
      { bankId: id },
      ...(barCode ? [{ barCode }] : []),
    ];
    return findByFirstId(ids, (one) => this.read({ accountId, ...one }, 1));
  }

  /** Newest first; one row more than the page holds. */
  async list(
    accountId: number,
    { limit, after }: Page,
    { state, barCode }: Partial<Pick<BillPayment, 'state' | 'barCode'>>,
  ) {
    return this.read({ accountId, state, barCode, id: { lt: after ?? undefined } }, limit + 1);
  }

  private async read(where: Prisma.BillPaymentWhereInput & { accountId: number }, take: number) {
    const { prisma } = this.database;
    const orderBy = { id: 'desc' } as const;
    const payments = await prisma.billPayment.findMany({ where, orderBy, take, include });
    const ids = payments.map(({ expectedPaymentId }) => expectedPaymentId);
    const lines = await listMatchedLines(prisma, where.accountId, ids);
    return payments.map((payment) =>
      describeBillPayment(payment, lines.get(payment.expectedPaymentId) ?? []),
    );
  }
}

function describeBillPayment(
  { operation, expectedPayment, ...payment }: StoredBillPayment,
  lines: MatchedLine[],
) {
  const { payments, reversals, ...totals } = outgoingTotals(lines);
  const isWithdrawn = expectedPayment.withdrawnAt !== null;
  return {
    ...payment,
    operationState: operation.state,
    // The failure was proven by a statement that did not show the debit yet.
    state: payment.state === 'failed' && payments.length > 0 ? 'paid' : payment.state,
    amount: payment.amountCents,
    settlement: outgoingSettlement({ ...totals, isWithdrawn }),
    nsu: payments[0]?.nsu ?? null,
    reversals: reversals.map((line) => ({ ...line, amount: line.amountCents })),
    response: acceptedResponse(operation),
  };
}
