// A charge as business systems read it: the bank's response, the bank's current status, and the
// payments and refunds on the statement.
import { shownSettlement } from '../expected-payments/outgoing-settlement.js';
import type { Prisma } from '../generated/service/client.js';
import { acceptedResponse } from '../operations/operations.schema.js';
import type { ChargeRefundRow } from './charges.queries.js';
import { chargeSettlement } from './charge-settlement.js';

export const chargeInclude = {
  operation: { select: { state: true, responseBody: true } },
  expectedPayment: {
    select: {
      total: { select: { settlement: true } },
      matches: {
        where: { unlinkedAt: null, role: 'payment' },
        orderBy: [{ line: { occurredAt: 'asc' } }, { nsu: 'asc' }],
        select: {
          nsu: true,
          amountCents: true,
          line: { select: { endToEndId: true, occurredAt: true } },
        },
      },
    },
  },
} satisfies Prisma.ChargeInclude;

/** A charge with its payments, oldest first. */
export type ChargeWithPayments = Prisma.ChargeGetPayload<{ include: typeof chargeInclude }>;

export function toChargeView(row: ChargeWithPayments, refunds: ChargeRefundRow[], today: string) {
  const { total, matches: payments } = row.expectedPayment;
  return {
    type: row.type,
    createdAt: row.createdAt.toISOString(),
    ...(row.amountCents === null ? {} : { amount: row.amountCents }),
    ...(row.dueDate === null ? {} : { dueDate: row.dueDate }),
    ...(acceptedResponse(row.operation) as Record<string, unknown> | null),
    ...(row.bankStatus === null ? {} : { status: row.bankStatus }),
    ...(row.bankDueDate === null ? {} : { dueDate: row.bankDueDate }),
    correlationId: row.correlationId,
    operationId: row.operationId,
    operationState: row.operation.state,
    settlement: chargeSettlement(total?.settlement, {
      dueDate: row.bankDueDate ?? row.dueDate,
      isCancelled: row.cancelledAt !== null,
      isExpired: row.expiredAt !== null,
      today,
    }),
    cancelledAt: row.cancelledAt,
    expiredAt: row.expiredAt,
    payments: payments.map(({ nsu, amountCents, line }) => ({ nsu, amount: amountCents, ...line })),
    refunds: refunds
      .filter(({ originalNsu }) => payments.some(({ nsu }) => nsu === originalNsu))
      .map((refund) => ({
        ...refund,
        amount: refund.amountCents,
        settlement: shownSettlement(refund.stored ?? undefined, refund.isWithdrawn),
      })),
  };
}
