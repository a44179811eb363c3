// Query and payment of bills of other institutions. Contract: chapters "Bill information", "Bill
// payment request / response", "Bill payments".
import { z } from 'zod';
import { hasBarCodeLength, parseBillCode } from '../brazil/bill-code.js';
import { route } from './route.js';
import {
  answeredId,
  bigInteger,
  millionths,
  positiveReais,
  reais,
  requestedTime,
  text,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
  nameSchemas,
} from './wire.js';

const codeMessages = {
  malformed: 'Must be a bar code (44 digits) or a digitable line (47 digits, or 48 for taxes).',
  wrong_check_digit: 'Has a wrong check digit.',
  unknown_currency: 'Must be an amount in reais.',
};

/** A code with correct check digits, with or without punctuation. */
const billCode = text(100).superRefine((value, context) => {
  const parsed = parseBillCode(value);
  if (!parsed.ok) context.addIssue({ code: 'custom', message: codeMessages[parsed.reason] });
});

export const billBarCode = billCode.refine(
  (value) => hasBarCodeLength(value) || !parseBillCode(value).ok,
  'Must be a bar code, not a digitable line.',
);

export const billDigitableLine = billCode.refine(
  (value) => !hasBarCodeLength(value) || !parseBillCode(value).ok,
  'Must be a digitable line, not a bar code.',
);

/**
 * Whether two codes are of the same bill. True if one is missing or invalid: that has its own
 * error.
 */
export function isSameBill(codes: {
  barCode?: string | null | undefined;
  digitableLine?: string | null | undefined;
}): boolean {
  if (typeof codes.barCode !== 'string' || typeof codes.digitableLine !== 'string') return true;
  const barCode = parseBillCode(codes.barCode);
  const line = parseBillCode(codes.digitableLine);
  return !barCode.ok || !line.ok || barCode.code.barCode === line.code.barCode;
}

export const differentBillIssue = {
  path: ['digitableLine'],
  message: 'Must identify the same bill as barCode.',
};

/** `interesetAmount` is the bank's own spelling. */
export const paymentCalculation = z.looseObject({
  rebateAmount: unneeded(reais),
  interesetAmount: unneeded(reais),
  fineAmount: unneeded(reais),
  discountAmount: unneeded(reais),
  chargedAmount: reais,
  minimumPaymentAmount: unneeded(reais),
  maximumPaymentAmount: unneeded(reais),
});

const party = z.looseObject({
  document: unneededText,
  name: unneededText,
  type: unneededText,
});
const beneficiary = party.extend({ fantasyName: unneededText });
const issuer = z.looseObject({
  ispb: unneededText,
  name: unneededText,
  nameFantasy: unneededText,
});
/** A fine, interest or discount: in reais when the type is FIXED, in percent when PERCENTAGE. */
const adjustment = z.looseObject({
  date: unneededText,
  amount: unneeded(millionths),
  type: unneededText,
});

export const billStatuses = [
  'PAID',
  'PENDING_PAYMENT',
  'BLOCKED_PAYMENT',
  'PAYMENT_DEADLINE_EXCEEDED',
] as const;

export const billInformation = z.looseObject({
  identifierNumber: unneededId,
  type: unneededText,
  status: z.string(),
  amount: unneeded(reais),
  /** A date and time without a time zone. */
  dueDate: unneededText,
  /** One of the two codes identifies the bill. */
  barCode: unneededText,
  digitableLine: unneededText,
  isAllowPartialPayment: unneeded(z.boolean()),
  paymentCalculation,
  payer: unneeded(party),
  overduePaymentInterest: unneeded(adjustment),
  overduePaymentFine: unneeded(adjustment),
  discounts: unneeded(z.array(adjustment)),
  beneficiary: unneeded(beneficiary),
  issuer: unneeded(issuer),
});

export type BillInformation = z.output<typeof billInformation>;

const billPaymentRoute = { chapter: 'Bill payments', authentication: 'api-key' } as const;

export const getBill = route({
  ...billPaymentRoute,
  name: 'getBill',
  summary: 'Returns a bill by its bar code or digitable line, with the amount owed today.',
  method: 'GET',
  path: '/baas/api/v1/bill-payments/{identifier}',
  params: z.object({ identifier: billCode }),
  response: billInformation,
});

const billPaymentFields = z.looseObject({
  amount: positiveReais,
  barCode: billBarCode.nullish(),
  digitableLine: billDigitableLine.nullish(),
  /** Schedules the payment: a day, or a time, in São Paulo unless it has a time zone. */
  payAt: requestedTime.nullish(),
});

export const billPaymentRequest = billPaymentFields
  .refine(isSameBill, differentBillIssue)
  .refine(({ barCode, digitableLine }) => (barCode ?? digitableLine ?? null) !== null, {
    path: ['barCode'],
    message: 'One of barCode and digitableLine is required.',
  });

export type BillPaymentRequest = z.output<typeof billPaymentRequest>;

export const billPayment = z.looseObject({
  id: answeredId,
  identifierNumber: unneededId,
  /** One of the two codes identifies the bill. */
  barCode: unneededText,
  digitableLine: unneededText,
  status: unneededText,
  dueDate: unneededText,
  createdAt: unneeded(timestamp),
  originalAmount: unneeded(reais),
  paidAmount: reais,
  paymentCalculation: unneeded(paymentCalculation),
  beneficiary: unneeded(beneficiary),
  issuer: unneeded(issuer),
  /** Beyond the contract: when a scheduled payment is executed. */
  payAt: unneeded(timestamp),
  transactionNsu: unneeded(bigInteger).describe('The nsu of the debit, once there is one.'),
});

export type BillPaymentResponse = z.output<typeof billPayment>;

export const payBill = route({
  ...billPaymentRoute,
  name: 'payBill',
  summary: 'Pays a bill now or in the next business hours.',
  method: 'POST',
  path: '/baas/api/v1/bill-payments',
  idempotencyKey: 'required',
  body: billPaymentRequest,
  response: billPayment,
});

nameSchemas({ BillInformation: billInformation, BankBillPayment: billPayment });
