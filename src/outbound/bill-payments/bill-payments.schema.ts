// Routes and response schemas of bill payments as business systems read them.
import { z } from 'zod';
import { payBill } from '../../bank-contract/bill-payments.js';
import { metadataView, takingMetadata } from '../../statement/expected-payments/metadata.js';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  reais,
  text,
  maxIdLength,
  nameSchemas,
  ofTheBank,
} from '../../bank-contract/wire.js';
import { outgoingSettlements } from '../../statement/expected-payments/outgoing-settlement.js';
import { OperationState, BillPaymentState } from '../../generated/service/enums.js';
import { listOf, orderedListQuery } from '../../platform/http/listing.js';

export const billPaymentView = z.object({
  id: z.string().describe("The operation's id."),
  bankId: z.string().nullable(),
  operationState: z.enum(OperationState),
  state: z.enum(BillPaymentState),
  bankStatus: z.string().nullable().describe("The bank's latest status, verbatim."),
  amount: reais,
  barCode: z.string(),
  scheduledFor: instant.nullable(),
  metadata: metadataView,
  settlement: z.enum(outgoingSettlements),
  nsu: bigInteger.nullable().describe('The nsu of the debit; null while the statement shows none.'),
  /** Statement lines that reversed this payment, in full or in part. */
  reversals: z.array(z.object({ nsu: bigInteger, amount: reais, occurredAt: instant })),
  response: ofTheBank.describe("The bank's response; null while there is none."),
  createdAt: instant,
});

/** The contract's route with `metadata` in its body. */
export const payBillWithMetadata = { ...payBill, body: takingMetadata(payBill.body) };

const billPayments = {
  chapter: 'Bill payments',
  authentication: 'api-key',
  method: 'GET',
} as const;

export const listBillPaymentsRoute = route({
  ...billPayments,
  name: 'listBillPayments',
  summary: 'Lists bill payments with their state and settlement, newest first.',
  path: '/v1/bill-payments',
  query: orderedListQuery({
    state: z.enum(BillPaymentState).optional(),
    barCode: text(44).optional(),
  }),
  response: listOf(billPaymentView),
});

export const getBillPaymentRoute = route({
  ...billPayments,
  name: 'getBillPayment',
  summary:
    'Returns one payment by its operation’s id, the bank’s id, or the bill’s code (the newest).',
  path: '/v1/bill-payments/{id}',
  params: z.object({ id: text(maxIdLength) }),
  response: billPaymentView,
});

nameSchemas({ BillPayment: billPaymentView });
