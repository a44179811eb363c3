// Bills of other institutions: query and payment. Contract: chapters "Bill information", "Bill payment request /
// response", "Bill payments".
import { z } from 'zod';
import { hasBarCodeLength, parseBillCode } from '../brazil/bill-code.js';
import { parseRequestedTime } from '../brazil/business-hours.js';
import { route } from './route.js';
import { bigInteger, positiveReais, reais, text, timestamp } from './wire.js';

const codeMessages = {
  malformed: 'Is not a bar code (44 digits) or a digitable line (47 digits, 48 of taxes).',
  wrong_check_digit: 'Has a wrong check digit.',
  unknown_currency: 'Is not in reais.',
};

const codeText = z.string({
  error: (issue) => (issue.input === undefined ? 'The field is required.' : 'Must be a string.'),
});

/** A code whose digits all hold, with or without its punctuation. */
const billCode = codeText.superRefine((value, context) => {
  const parsed = parseBillCode(value);
  if (!parsed.ok) context.addIssue({ code: 'custom', message: codeMessages[parsed.reason] });
});

export const billBarCode = billCode.refine(
  (value) => hasBarCodeLength(value) || !parseBillCode(value).ok,
  'Is a digitable line, not a bar code.',
);

export const billDigitableLine = billCode.refine(
  (value) => !hasBarCodeLength(value) || !parseBillCode(value).ok,
  'Is a bar code, not a digitable line.',
);

/** Whether two codes, where both are given, name one bill; those that are wrong are told as such. */
export function areOneBill(codes: {
  barCode?: string | null | undefined;
  digitableLine?: string | null | undefined;
}): boolean {
  if (typeof codes.barCode !== 'string' || typeof codes.digitableLine !== 'string') return true;
  const [one, other] = [parseBillCode(codes.barCode), parseBillCode(codes.digitableLine)];
  return !one.ok || !other.ok || one.code.barCode === other.code.barCode;
}

export const notOneBill = {
  path: ['digitableLine'],
  message: 'Is of another bill than the barCode.',
};

/** One amount a word, `interesetAmount` spelled as the bank spells it. */
export const paymentCalculation = z.looseObject({
  rebateAmount: reais.nullish(),
  interesetAmount: reais.nullish(),
  fineAmount: reais.nullish(),
  discountAmount: reais.nullish(),
  chargedAmount: reais,
  minimumPaymentAmount: reais.nullish(),
  maximumPaymentAmount: reais.nullish(),
});

const party = z.looseObject({
  document: z.string().nullish(),
  name: z.string().nullish(),
  type: z.string().nullish(),
});
const beneficiary = party.extend({ fantasyName: z.string().nullish() });
const issuer = z.looseObject({
  ispb: z.string().nullish(),
  name: z.string().nullish(),
  nameFantasy: z.string().nullish(),
});
/** What is due beside the amount: in reais when FIXED, in percent when PERCENTAGE. */
const adjustment = z.looseObject({
  date: z.string().nullish(),
  amount: reais.nullish(),
  type: z.string().nullish(),
});

export const billStatuses = [
  'PAID',
  'PENDING_PAYMENT',
  'BLOCKED_PAYMENT',
  'PAYMENT_DEADLINE_EXCEEDED',
] as const;

export const billInformation = z.looseObject({
  identifierNumber: z.string().nullish(),
  type: z.string(),
  status: z.string(),
  amount: reais,
  /** Without zone, with the hour. */
  dueDate: z.string(),
  barCode: z.string(),
  digitableLine: z.string(),
  isAllowPartialPayment: z.boolean(),
  paymentCalculation,
  payer: party.nullish(),
  overduePaymentInterest: adjustment.nullish(),
  overduePaymentFine: adjustment.nullish(),
  discounts: z.array(adjustment).nullish(),
  beneficiary: beneficiary.nullish(),
  issuer: issuer.nullish(),
});

export type BillInformation = z.output<typeof billInformation>;

const chapter = { chapter: 'Bill payments', authentication: 'api-key' } as const;

export const getBill = route({
  ...chapter,
  name: 'getBill',
  summary: 'A bill by its bar code or its digitable line, with what it costs today.',
  method: 'GET',
  path: '/baas/api/v1/bill-payments/{identifier}',
  params: z.object({ identifier: billCode }),
  response: billInformation,
});

export const billPaymentRequest = z
  .looseObject({
    amount: positiveReais,
    barCode: billBarCode.nullish(),
    digitableLine: billDigitableLine.nullish(),
    /** Schedules the payment: a time with its zone, else of São Paulo, or a day. */
    payAt: text(40)
      .refine((value) => parseRequestedTime(value) !== null, 'Could not be read as a date and time.')
      .nullish(),
  })
  .refine(areOneBill, notOneBill)
  .refine(({ barCode, digitableLine }) => (barCode ?? digitableLine ?? null) !== null, {
    path: ['barCode'],
    message: 'One of barCode and digitableLine is required.',
  });

export type BillPaymentRequest = z.output<typeof billPaymentRequest>;

export const billPayment = z.looseObject({
  id: z.string(),
  identifierNumber: z.string().nullish(),
  barCode: z.string(),
  digitableLine: z.string(),
  status: z.string(),
  dueDate: z.string(),
  createdAt: timestamp,
  originalAmount: reais,
  paidAmount: reais,
  paymentCalculation: paymentCalculation.nullish(),
  beneficiary: beneficiary.nullish(),
  issuer: issuer.nullish(),
  /** Beyond the contract: when a scheduled payment goes through. */
  payAt: timestamp.nullish(),
  /** Beyond the contract: the nsu of the debit, once there is one. */
  transactionNsu: bigInteger.nullish(),
});

export type BillPaymentAnswer = z.output<typeof billPayment>;

export const payBill = route({
  ...chapter,
  name: 'payBill',
  summary: 'Pays a bill, at once or at the next business hour.',
  method: 'POST',
  path: '/baas/api/v1/bill-payments',
  idempotencyKey: 'required',
  body: billPaymentRequest,
  response: billPayment,
});
