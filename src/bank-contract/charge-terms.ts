// A charge's discount, fine and interest: from its request, and as text for the database.
import type { Adjustment, Adjustments, Interest, InterestPeriod } from '../brazil/amount-owed.js';
import { centsOfMillionths } from './wire.js';
import type { ChargeRequest } from './charges.js';

/** The unit of a type in any letter case. Null for a type that only the bank can compute. */
function unitOf(type: string): Pick<Adjustment, 'isPercentage'> | null {
  switch (type.toLowerCase()) {
    case 'fixed':
      return { isPercentage: false };
    case 'percentage':
      return { isPercentage: true };
    default:
      return null;
  }
}

/** Whether the amount of an adjustment can be computed from its type. */
export const isComputable = (type: string): boolean => unitOf(type) !== null;

/**
 * The adjustments of a request, in the form that computes the amount owed. One of an unknown type
 * is left out: a payment that follows it differs from the amount owed, and a person decides.
 * `period`: of interest as a percentage.
 */
export function adjustmentsOf(request: ChargeRequest, period: InterestPeriod): Adjustments {
  const { discount, lateFine, latePayment } = request;
  const toAdjustment = (late: typeof lateFine): Adjustment | null => {
    const unit = late ? unitOf(late.type) : null;
    return late && unit ? toAmount(unit, late) : null;
  };
  const discountUnit = discount ? unitOf(discount.type) : null;
  return {
    discounts: (discount?.items ?? []).flatMap(({ date, amount }) =>
      discountUnit ? toAmount(discountUnit, { date, amount }) : [],
    ),
    fine: toAdjustment(lateFine),
    interest: interestOf(toAdjustment(latePayment), period),
  };
}

/** The wire has millionths; a fixed amount has whole cents. */
function toAmount(
  { isPercentage }: Pick<Adjustment, 'isPercentage'>,
  { date, amount }: { date: string; amount: bigint },
): Adjustment {
  return { isPercentage, date, amount: isPercentage ? amount : (centsOfMillionths(amount) ?? 0n) };
}

function interestOf(interest: Adjustment | null, period: InterestPeriod): Interest | null {
  return interest?.isPercentage ? { ...interest, period } : interest;
}

/** Writes whole numbers as text: JSON.parse would read them as floats. */
export function serializeAdjustments(adjustments: Adjustments): string {
  return JSON.stringify(adjustments, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

export function parseAdjustments(text: string | null): Adjustments {
  if (text === null) return { discounts: [], fine: null, interest: null };
  return JSON.parse(text, (key, value: unknown) =>
    key === 'amount' ? BigInt(value as string) : value,
  ) as Adjustments;
}
