// A charge's discount, fine and interest: read from its request, and as text for the database.
import type { Adjustment, Adjustments } from '../brazil/amount-owed.js';
import type { ChargeRequest } from './charges.js';

const isPercentage = (type: string) => type.toLowerCase() === 'percentage';

/** The terms that a request names, in the bank's own form. */
export function adjustmentsOf(request: ChargeRequest): Adjustments {
  const { discount, lateFine, latePayment } = request;
  const single = (sent: typeof lateFine): Adjustment | null =>
    sent ? { isPercentage: isPercentage(sent.type), date: sent.date, amount: sent.amount } : null;
  return {
    discounts: (discount?.items ?? []).map(({ date, amount }) => ({
      isPercentage: isPercentage(discount?.type ?? ''),
      date,
      amount,
    })),
    fine: single(lateFine),
    interest: single(latePayment),
  };
}

/** As kept in the database: whole numbers as text, which JSON would make floats. */
export function writeAdjustments(adjustments: Adjustments): string {
  return JSON.stringify(adjustments, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
}

type Written = Omit<Adjustment, 'amount'> & { amount: string };

export function readAdjustments(text: string | null): Adjustments {
  if (text === null) return { discounts: [], fine: null, interest: null };
  const written = JSON.parse(text) as {
    discounts: Written[];
    fine: Written | null;
    interest: Written | null;
  };
  const read = (one: Written): Adjustment => ({ ...one, amount: BigInt(one.amount) });
  return {
    discounts: written.discounts.map(read),
    fine: written.fine && read(written.fine),
    interest: written.interest && read(written.interest),
  };
}
