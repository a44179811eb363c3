import type { Adjustment } from '../../brazil/amount-owed.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { BillInformation, BillPaymentResponse } from '../../bank-contract/bill-payments.js';
import { millionthsOfCents } from '../../bank-contract/wire.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';
import { isPartShown, type Preset } from '../presets/presets.js';
import type { BillPaymentRow } from './bills.queries.js';

/** A bill in the shape of the contract, calculated for a day. */
export function billResponse(bill: Bill, day: PlainDate): BillInformation {
  const { fine, interest, discounts } = bill.adjustments;
  // The contract requires fine and interest: a bill without them shows zero from the first late
  // day.
  const none = { isPercentage: false, date: addDays(bill.dueDate, 1), amount: 0n };
  return {
    ...fieldsOfBoth(bill, day),
    type: bill.type,
    status: bill.status,
    amount: bill.amountCents,
    isAllowPartialPayment: bill.isAllowPartialPayment,
    payer: bill.payer,
    overduePaymentInterest: adjustmentResponse(interest ?? none),
    overduePaymentFine: adjustmentResponse(fine ?? none),
    discounts: discounts.map(adjustmentResponse),
  };
}

/** A payment in the shape of the contract. A scheduled payment also has `payAt`. */
export function billPaymentResponse(
  bill: Bill,
  payment: BillPaymentRow,
  day: PlainDate,
  preset: Preset,
): BillPaymentResponse {
  const isPlain = !isPartShown('billPayment.nsuAndTime', preset);
  const { transactionNsu } = payment;
  const effect =
    transactionNsu === null ? { payAt: payment.payAt.toISOString() } : { transactionNsu };
  return {
    ...fieldsOfBoth(bill, day),
    id: payment.id,
    status: payment.status,
    createdAt: payment.createdAt.toISOString(),
    originalAmount: bill.amountCents,
    paidAmount: payment.amountCents,
    ...(isPlain ? {} : effect),
  };
}

/** The fields that a bill and its payment share. */
function fieldsOfBoth(bill: Bill, day: PlainDate) {
  const { identifierNumber, barCode, digitableLine, beneficiary, issuer } = bill;
  const calculation = calculateBill(bill, day);
  return {
    ...{ identifierNumber, barCode, digitableLine, beneficiary, issuer },
    // The contract's due date: a local date and time without zone.
    dueDate: `${bill.dueDate}T00:00:00`,
    paymentCalculation: {
      rebateAmount: calculation.rebateCents,
      interesetAmount: calculation.interestCents,
      fineAmount: calculation.fineCents,
      discountAmount: calculation.discountCents,
      chargedAmount: calculation.chargedCents,
      minimumPaymentAmount: calculation.minimumCents,
      maximumPaymentAmount: calculation.maximumCents,
    },
  };
}

function adjustmentResponse({ date, amount, isPercentage }: Adjustment) {
  const type = isPercentage ? 'PERCENTAGE' : 'FIXED';
  return { date, amount: isPercentage ? amount : millionthsOfCents(amount), type };
}
