// Settlement reported for a payment after earlier payments of the same charge were refunded.
import {
  settlementOfPayments,
  type PaymentWithRefunds,
  type PaidSettlement,
} from '../expected-payments/settlement.js';

/** One of several payments of the same expected payment. */
export interface RepeatedPayment extends PaymentWithRefunds {
  expectedPaymentId: string;
  nsu: bigint;
}

export interface ReportedPayment {
  nsu: bigint;
  expectedPaymentId: string;
  owedCents: bigint | null;
  settlement: PaidSettlement;
}

/** The settlement after the payment, net of the refunds of the other payments. */
export function settlementNetOfRefunds(
  { nsu, expectedPaymentId, owedCents, settlement }: ReportedPayment,
  payments: readonly RepeatedPayment[],
): PaidSettlement {
  const all = payments.filter((one) => one.expectedPaymentId === expectedPaymentId);
  const others = all.filter((one) => one.nsu !== nsu);
  const own = all.find((one) => one.nsu === nsu);
  if (!own || others.every(({ refundedCents }) => refundedCents === 0n)) return settlement;
  // A refund of the payment itself is reported when its own line is decided.
  const known = [...others, { ...own, refundedCents: 0n }];
  const net = settlementOfPayments({ amountCents: owedCents, isMultiUse: false }, known);
  return net === 'refunded' ? settlement : net;
}
