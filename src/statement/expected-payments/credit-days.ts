// Credit days: how many business days after its payment the money of each way of payment is
// credited.
import type { StatementLine } from '../../generated/service/client.js';

export const paymentWays = ['slip', 'pix', 'other'] as const;
export type PaymentWay = (typeof paymentWays)[number];
export type CreditDays = Readonly<Record<PaymentWay, number>>;

/** No bank takes longer; a month of payment days would accept nearly any amount. */
export const maxCreditDays = 30;

/** What a line shows of when it was paid. */
export type CreditedLine = Pick<
  StatementLine,
  'occurredAt' | 'endToEndId' | 'typeName' | 'paidOn'
> & { creditDays: CreditDays };

/** A line with an endToEndId is a Pix, and so is one that the bank calls so. */
export const isPix = ({ endToEndId, typeName }: Pick<CreditedLine, 'endToEndId' | 'typeName'>) =>
  endToEndId !== null || /PIX/i.test(typeName);

/** The ways in which a charge of a type may be paid; null is of a payment that is no charge. */
function waysOf(chargeType: string | null): readonly PaymentWay[] {
  switch (chargeType) {
    case null:
      return ['other'];
    case 'BANKSLIP':
      return ['slip'];
    case 'PIX_STATIC':
      return ['pix'];
    default:
      return ['pix', 'slip'];
  }
}

/** The fewest and the most business days after which a payment of the charge is credited. */
export function creditDaysOf(creditDays: CreditDays, chargeType: string | null) {
  const days = waysOf(chargeType).map((way) => creditDays[way]);
  return { least: Math.min(...days), most: Math.max(...days) };
}

/** When a line was paid, if that is known, and when it was credited. */
export function paymentTimesOf(line: Omit<CreditedLine, 'creditDays'>) {
  const { occurredAt, paidOn } = line;
  return { paidAt: isPix(line) ? occurredAt.toISOString() : paidOn, creditedAt: occurredAt };
}
