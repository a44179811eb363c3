import type { Adjustment } from '../../brazil/amount-owed.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import type { BillInformation, BillPaymentAnswer } from '../../contract/bill-payments.js';
import type { Bill } from './bill.js';
import { calculateBill } from './bill-calculation.js';
import type { BillPaymentRow } from './bill-payments.queries.js';

/** A bill as the contract tells it, calculated for a day. */
export function billAnswer(bill: Bill, day: PlainDate): BillInformation {
  const { fine, interest, discounts } = bill.adjustments;
  // What a bill does not ask for is told as nothing from the first late day on.
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
    paymentCalculation: calculationAnswer(bill, day),
    payer: { ...bill.payer },
    overduePaymentInterest: adjustmentAnswer(interest ?? none),
    overduePaymentFine: adjustmentAnswer(fine ?? none),
    discounts: discounts.map(adjustmentAnswer),
    beneficiary: { ...bill.beneficiary },
    issuer: { ...bill.issuer },
  };
}

/** A payment as the contract tells it; what is scheduled also tells for when. */
export function billPaymentAnswer(
  bill: Bill,
  payment: BillPaymentRow,
  day: PlainDate,
): BillPaymentAnswer {
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
    paymentCalculation: calculationAnswer(bill, day),
    beneficiary: { ...bill.beneficiary },
    issuer: { ...bill.issuer },
    ...(payment.transactionNsu === null
      ? { payAt: payment.payAt.toISOString() }
      : { transactionNsu: payment.transactionNsu }),
  };
}

function calculationAnswer(bill: Bill, day: PlainDate) {
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

function adjustmentAnswer({ date, amount, isPercentage }: Adjustment) {
  return { date, amount, type: isPercentage ? 'PERCENTAGE' : 'FIXED' };
}

/** Without zone, with the hour. */
function dueTime(bill: Bill): string {
  return `${bill.dueDate}T00:00:00`;
}
