// What is told of a payment when others have gone back: the goods may go for money that is here.
import {
  settlementOfPayments,
  type NetPayment,
  type PaidSettlement,
} from '../expected-payments/settlement.js';

/** One of several payments of what is expected. */
export interface OneOfPayments extends NetPayment {
  expectedPaymentId: string;
  nsu: bigint;
}

export interface ReportedPayment {
  nsu: bigint;
  expectedPaymentId: string;
  owedCents: bigint | null;
  settlement: PaidSettlement;
}

/** The settlement that the payment leaves, by what was kept of the others. */
export function settlementNetOfRefunds(
  { nsu, expectedPaymentId, owedCents, settlement }: ReportedPayment,
  payments: readonly OneOfPayments[],
): PaidSettlement {
  const all = payments.filter((one) => one.expectedPaymentId === expectedPaymentId);
  const others = all.filter((one) => one.nsu !== nsu);
  const own = all.find((one) => one.nsu === nsu);
  if (!own || others.every(({ refundedCents }) => refundedCents === 0n)) return settlement;
  // What becomes of the payment itself is told when that is seen.
  const known = [...others, { ...own, refundedCents: 0n }];
  const kept = settlementOfPayments({ amountCents: owedCents, isMultiUse: false }, known);
  return kept === 'refunded' ? settlement : kept;
}
