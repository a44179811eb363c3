// Routes and response schemas of bill payments as business systems read them.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { bigInteger, reais, text, timestamp } from '../contract/wire.js';
import type { MatchedLine } from '../expected-payments/matched-lines.queries.js';
import {
  outgoingSettlement,
  outgoingSettlements,
  outgoingTotals,
} from '../expected-payments/outgoing-settlement.js';
import { parseJson } from '../platform/exact-json.js';
import { listOf, listQuery } from '../platform/listing.js';
import type { BillPaymentViewRow } from './bill-payment-views.queries.js';
import { billPaymentStates } from './bill-payment-state.js';

export const billPaymentView = z.object({
  /** The operation's id. */
  id: z.string(),
  bankId: z.string().nullable(),
  operationState: z.string(),
  state: z.enum(billPaymentStates),
  /** The bank's latest status, verbatim. */
  bankStatus: z.string().nullable(),
  amount: reais,
  barCode: z.string(),
  scheduledFor: timestamp.nullable(),
  settlement: z.enum(outgoingSettlements),
  /** The nsu of the debit; null while the statement shows none. */
  nsu: bigInteger.nullable(),
  /** Statement lines that reversed this payment, in full or in part. */
  reversals: z.array(z.object({ nsu: bigInteger, amount: reais, occurredAt: timestamp })),
  /** The bank's response; null while there is none. */
  response: z.unknown(),
  createdAt: timestamp,
});

export function describeBillPayment(
  row: BillPaymentViewRow,
  lines: MatchedLine[],
): z.output<typeof billPaymentView> {
  const { payments, reversals, paidCents, reversedCents } = outgoingTotals(lines);
  const { id, bankId, operationState, bankStatus, barCode, amountCents, responseBody } = row;
  return {
    id,
    bankId,
    operationState,
    // The failure was proven by a statement that did not show the debit yet.
    state: row.state === 'failed' && payments.length > 0 ? 'paid' : row.state,
    bankStatus,
    amount: amountCents,
    barCode,
    scheduledFor: row.scheduledFor?.toISOString() ?? null,
    settlement: outgoingSettlement({ paidCents, reversedCents, isWithdrawn: row.isWithdrawn }),
    nsu: payments[0]?.nsu ?? null,
    reversals: reversals.map(({ nsu, amountCents: amount, occurredAt }) => ({
      nsu,
      amount,
      occurredAt: occurredAt.toISOString(),
    })),
    response: responseBody === null ? null : parseJson(responseBody),
    createdAt: row.createdAt.toISOString(),
  };
}

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
  query: listQuery({ state: z.enum(billPaymentStates).optional(), barCode: text(44).optional() }),
  response: listOf(billPaymentView),
});

export const getBillPaymentRoute = route({
  ...billPayments,
  name: 'getBillPayment',
  summary:
    'Returns one payment by its operation’s id, the bank’s id, or the bill’s code (the newest).',
  path: '/v1/bill-payments/{id}',
  params: z.object({ id: text(100) }),
  response: billPaymentView,
});
