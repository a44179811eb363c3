// A charge as business systems read it: the bank's response, the bank's current status, and the
// newest payments and refunds on the statement.
import { paymentTimesOf } from '../../statement/expected-payments/credit-days.js';
import { metadataOf } from '../../statement/expected-payments/metadata.js';
import { shownSettlement } from '../../statement/expected-payments/outgoing-settlement.js';
import type { Prisma } from '../../generated/service/client.js';
import { acceptedResponse } from '../operations/operations.schema.js';
import type { NewestPaymentRow, NewestRefundRow } from './charges.queries.js';
import { chargeSettlement } from './charge-settlement.js';

export const chargeInclude = {
  operation: { select: { state: true, responseBody: true } },
  expectedPayment: {
    select: {
      dueDate: true,
      dueDates: {
        select: { dueDate: true, bankTime: true, operationId: true },
        orderBy: { sequence: 'asc' },
      },
      total: { select: { settlement: true } },
      metadata: { select: { key: true, value: true } },
    },
  },
} satisfies Prisma.ChargeInclude;

export type ChargeWithSettlement = Prisma.ChargeGetPayload<{ include: typeof chargeInclude }>;

/** What is shown of the charge, oldest first. */
interface Shown {
  payments: readonly NewestPaymentRow[];
  refunds: readonly NewestRefundRow[];
}

export function toChargeView(
  row: ChargeWithSettlement,
  { payments, refunds }: Shown,
  today: string,
) {
  const { dueDate, dueDates } = row.expectedPayment;
  return {
    type: row.type,
    createdAt: row.createdAt.toISOString(),
    ...(row.amountCents === null ? {} : { amount: row.amountCents }),
    ...(dueDate === null ? {} : { dueDate }),
    ...(acceptedResponse(row.operation) as Record<string, unknown> | null),
    ...(row.bankStatus === null ? {} : { status: row.bankStatus }),
    // The response shows the first one.
    ...(dueDates.length > 0 ? { dueDate } : {}),
    dueDates: dueDates.map(({ bankTime: since, ...one }) => ({ ...one, since })),
    correlationId: row.correlationId,
    operationId: row.operationId,
    operationState: row.operation.state,
    expectedPaymentId: row.expectedPaymentId,
    settlement: chargeSettlement(row.expectedPayment.total?.settlement, {
      dueDate,
      isCancelled: row.cancelledAt !== null,
      isExpired: row.expiredAt !== null,
      today,
    }),
    metadata: metadataOf(row.expectedPayment.metadata),
    cancelledAt: row.cancelledAt,
    expiredAt: row.expiredAt,
    payments: payments.map((payment) => ({
      ...payment,
      ...paymentTimesOf(payment),
      amount: payment.amountCents,
    })),
    paymentCount: payments[0]?.count ?? 0,
    refunds: refunds.map((refund) => ({
      ...refund,
      amount: refund.amountCents,
      settlement: shownSettlement(refund.stored ?? undefined, refund.isWithdrawn),
    })),
    refundCount: refunds[0]?.count ?? 0,
  };
}
