import type { Adjustment } from '../../brazil/amount-owed.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { BillInformation, BillPaymentResponse } from '../../contract/bill-payments.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';
import type { BillPaymentRow } from './bill-payments.queries.js';

/** A bill in the shape of the contract, calculated for a day. */
export function billResponse(bill: Bill, day: PlainDate): BillInformation {
  const { fine, interest, discounts } = bill.adjustments;
  // The contract requires fine and interest: a bill without them shows zero from the first late
  // day.
  const none = { isPercentage: false, date: addDays(bill.dueDate, 1), amount: 0n };
  return {
    identifierNumber: bill.identifierNumber,
    type: bill.type,
    status: bill.status,
    amount: bill.amountCents,
    dueDate: dueTime(bill),
    barCode: bill.barCode,
    digitableLine: bill.digitableLine,
    isAllowPartialPayment: bill.isAllowPartialPayment,
    paymentCalculation: calculationResponse(bill, day),
    payer: bill.payer,
    overduePaymentInterest: adjustmentResponse(interest ?? none),
    overduePaymentFine: adjustmentResponse(fine ?? none),
    discounts: discounts.map(adjustmentResponse),
    beneficiary: bill.beneficiary,
    issuer: bill.issuer,
  };
}

/** A payment in the shape of the contract. A scheduled payment also has `payAt`. */
export function billPaymentResponse(
  bill: Bill,
  payment: BillPaymentRow,
  day: PlainDate,
): BillPaymentResponse {
  return {
    id: payment.id,
    identifierNumber: bill.identifierNumber,
    barCode: bill.barCode,
    digitableLine: bill.digitableLine,
    status: payment.status,
    dueDate: dueTime(bill),
    createdAt: payment.createdAt.toISOString(),
    originalAmount: bill.amountCents,
    paidAmount: payment.amountCents,
    paymentCalculation: calculationResponse(bill, day),
    beneficiary: bill.beneficiary,
    issuer: bill.issuer,
    ...(payment.transactionNsu === null
      ? { payAt: payment.payAt.toISOString() }
      : { transactionNsu: payment.transactionNsu }),
  };
}

function calculationResponse(bill: Bill, day: PlainDate) {
  const calculation = calculateBill(bill, day);
  return {
    rebateAmount: calculation.rebateCents,
    interesetAmount: calculation.interestCents,
    fineAmount: calculation.fineCents,
    discountAmount: calculation.discountCents,
    chargedAmount: calculation.chargedCents,
    minimumPaymentAmount: calculation.minimumCents,
    maximumPaymentAmount: calculation.maximumCents,
  };
}

function adjustmentResponse({ date, amount, isPercentage }: Adjustment) {
  return { date, amount, type: isPercentage ? 'PERCENTAGE' : 'FIXED' };
}

/** The contract's due date: a local date and time without zone. */
function dueTime(bill: Bill): string {
  return `${bill.dueDate}T00:00:00`;
}
