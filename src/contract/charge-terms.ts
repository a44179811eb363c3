// A charge's discount, fine and interest: from its request, and as text for the database.
import type { Adjustment, Adjustments } from '../brazil/amount-owed.js';
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
 */
export function adjustmentsOf(request: ChargeRequest): Adjustments {
  const { discount, lateFine, latePayment } = request;
  const toAdjustment = (late: typeof lateFine): Adjustment | null => {
    const unit = late ? unitOf(late.type) : null;
    return late && unit ? { ...unit, date: late.date, amount: late.amount } : null;
  };
  const discountUnit = discount ? unitOf(discount.type) : null;
  return {
    discounts: (discount?.items ?? []).flatMap(({ date, amount }) =>
      discountUnit ? { ...discountUnit, date, amount } : [],
    ),
    fine: toAdjustment(lateFine),
    interest: toAdjustment(latePayment),
  };
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
