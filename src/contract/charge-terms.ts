// A charge's discount, fine and interest: from its request, and as text for the database.
import type { Adjustment, Adjustments } from '../brazil/amount-owed.js';
import type { ChargeRequest } from './charges.js';

const isPercentage = (type: string) => type.toLowerCase() === 'percentage';

/** The adjustments of a request, in the form that computes the amount owed. */
export function adjustmentsOf(request: ChargeRequest): Adjustments {
  const { discount, lateFine, latePayment } = request;
  const toAdjustment = (late: typeof lateFine): Adjustment | null =>
    late ? { isPercentage: isPercentage(late.type), date: late.date, amount: late.amount } : null;
  return {
    discounts: (discount?.items ?? []).map(({ date, amount }) => ({
      isPercentage: isPercentage(discount?.type ?? ''),
      date,
      amount,
    })),
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
