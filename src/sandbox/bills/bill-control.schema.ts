// The control plane of bills: create bills of any type and status, list payments and charge them
// back.
import { z } from 'zod';
import {
  isSameBill,
  billBarCode,
  billDigitableLine,
  billStatuses,
  differentBillIssue,
} from '../../bank-contract/bill-payments.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  centsOfMillionths,
  filledText,
  instant,
  millionths,
  plainDate,
  positiveReais,
  reais,
  text,
  notNegativeReais,
  nameSchemas,
} from '../../bank-contract/wire.js';

const control = { chapter: 'Sandbox control', authentication: 'api-key' } as const;

const adjustment = z
  .looseObject({
    type: z.enum(['FIXED', 'PERCENTAGE']),
    date: plainDate,
    /** In reais, or in percent with up to six decimals. */
    amount: millionths.refine((amount) => amount > 0n, 'Must be greater than zero.'),
  })
  .refine(({ type, amount }) => type !== 'FIXED' || centsOfMillionths(amount) !== null, {
    path: ['amount'],
    message: 'Must have at most two decimals.',
  });
const party = z.looseObject({
  document: text(18).refine((value) => parseTaxId(value) !== null, 'Is neither a CPF nor a CNPJ.'),
  name: filledText(200),
});

const bill = z.object({
  barCode: z.string(),
  digitableLine: z.string(),
  type: z.string(),
  status: z.string(),
  amount: reais,
});

export const createBill = route({
  ...control,
  name: 'sandboxCreateBill',
  summary:
    'Creates a bill of another institution in any status, with a generated code unless one is sent.',
  method: 'POST',
  path: '/sandbox/bills',
  body: z
    .looseObject({
      type: z.enum(['BANKSLIP', 'TAXES']),
      status: z.enum(billStatuses),
      amount: positiveReais.nullish().describe('By default that of the code.'),
      isAllowPartialPayment: z.boolean().nullish(),
      minimumPaymentAmount: positiveReais.nullish(),
      maximumPaymentAmount: positiveReais.nullish(),
      dueDate: plainDate.nullish().describe('By default that of the code, or else a day soon.'),
      barCode: billBarCode.nullish(),
      digitableLine: billDigitableLine.nullish(),
      rebateAmount: notNegativeReais.nullish(),
      interest: adjustment.nullish(),
      fine: adjustment.nullish(),
      discounts: z.array(adjustment).max(10, 'Must be at most 10.').nullish(),
      payer: party.nullish(),
      beneficiary: party.extend({ fantasyName: filledText(200).nullish() }).nullish(),
    })
    .refine(isSameBill, differentBillIssue),
  response: bill,
});

export type RequestedBill = z.output<(typeof createBill)['body']>;
/** With the amount that the code may have given. */
export type NewBillRequest = RequestedBill & { amount: bigint };

const payment = z.object({
  id: z.string(),
  account: z.string(),
  barCode: z.string(),
  status: z.string(),
  amount: reais,
  payAt: instant,
  nsu: bigInteger.nullable(),
  failure: z.string().nullable().describe('Why a scheduled payment failed.'),
});

export const listBillPayments = route({
  ...control,
  name: 'sandboxListBillPayments',
  summary: 'Lists payments of bills, also scheduled ones, newest first.',
  method: 'GET',
  path: '/sandbox/bill-payments',
  query: z.object({ account: text(20).optional() }),
  response: z.array(payment),
});

export const chargeBackBillPayment = route({
  ...control,
  name: 'sandboxChargeBackBillPayment',
  summary: 'Charges a payment back; the bill can be paid again.',
  method: 'POST',
  path: '/sandbox/bill-payments/{id}/chargeback',
  params: z.object({ id: text(100) }),
  response: payment,
});

nameSchemas({ SandboxBill: bill, SandboxBillPayment: payment });
