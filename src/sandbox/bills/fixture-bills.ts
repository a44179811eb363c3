import { buildBankSlip } from '../../brazil/bank-slip.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { buildUtilityBill } from '../../brazil/utility-bill.js';
import type { BillRow } from './bill.js';
import type { NewBillRequest } from './bill-control.schema.js';
import { newBill } from './new-bill.js';

const statuses = [
  'PENDING_PAYMENT',
  'PAID',
  'BLOCKED_PAYMENT',
  'PAYMENT_DEADLINE_EXCEEDED',
] as const;

type Terms = Pick<NewBillRequest, 'status' | 'amount'> & { dueDate: PlainDate };

/** A bill of each type in each status, and one slip that allows partial payment. */
export function fixtureBills(today: PlainDate): BillRow[] {
  const requests = statuses.flatMap((status, index): NewBillRequest[] => {
    const dueDate = addDays(today, status === 'PAYMENT_DEADLINE_EXCEEDED' ? -60 : 10 + index);
    return [
      slip({ status, amount: BigInt(15_050 + index * 1_000), dueDate }, index),
      taxes({ status, amount: BigInt(8_025 + index * 500), dueDate }, index),
    ];
  });
  const terms = {
    status: 'PENDING_PAYMENT',
    amount: 20_000n,
    dueDate: addDays(today, 20),
  } as const;
  requests.push({ ...slip(terms, 9), isAllowPartialPayment: true, minimumPaymentAmount: 5_000n });
  // Each request has its code, so that no code is derived from the seed.
  return requests.map((request) => newBill(request, { today, seed: '' }));
}

function slip(terms: Terms, serial: number): NewBillRequest {
  const { amount: amountCents, dueDate } = terms;
  const freeField = `3381260${String(serial).padStart(18, '0')}`;
  const { barCode } = buildBankSlip({ bankCode: '237', amountCents, dueDate, freeField });
  return { ...terms, type: 'BANKSLIP', barCode };
}

function taxes(terms: Terms, serial: number): NewBillRequest {
  const { barCode } = buildUtilityBill({
    segment: serial % 2 === 0 ? 'GOVERNMENT' : 'ENERGY',
    valueKind: 'REAIS',
    modulus: serial % 2 === 0 ? 10 : 11,
    value: terms.amount,
    companyCode: '0179',
    freeField: String(serial).padStart(25, '0'),
  });
  return { ...terms, type: 'TAXES', barCode };
}
