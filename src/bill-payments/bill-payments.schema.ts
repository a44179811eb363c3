// Bill payments as business systems read them: what was asked for, the bank's answer, and what the book knows.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { bigInteger, reais, text, timestamp } from '../contract/wire.js';
import type { MatchedLine } from '../expected-payments/matched-lines.queries.js';
import {
  sentSettlements,
  settlementOfSent,
  totalsOfSent,
} from '../expected-payments/sent-settlement.js';
import { parseJson } from '../platform/exact-json.js';
import { listOf, listQuery } from '../platform/listing.js';
import type { PaymentRow } from './bill-payment-reading.queries.js';
import { paymentStates } from './payment-life.js';

export const billPaymentView = z.object({
  /** Its operation's id. */
  id: z.string(),
  bankId: z.string().nullable(),
  operationState: z.string(),
  state: z.enum(paymentStates),
  /** The bank's last word. */
  bankStatus: z.string().nullable(),
  amount: reais,
  barCode: z.string(),
  scheduledFor: timestamp.nullable(),
  settlement: z.enum(sentSettlements),
  /** The line of the debit, once it is on the statement. */
  nsu: bigInteger.nullable(),
  /** Money that came back. */
  returns: z.array(z.object({ nsu: bigInteger, amount: reais, occurredAt: timestamp })),
  /** The bank's answer; null while there is none. */
  response: z.unknown(),
  createdAt: timestamp,
});

export function describePayment(
  row: PaymentRow,
  lines: MatchedLine[],
): z.output<typeof billPaymentView> {
  const { payments, returns, paidCents, returnedCents } = totalsOfSent(lines);
  const { id, bankId, operationState, bankStatus, barCode, amountCents, answer } = row;
  return {
    id,
    bankId,
    operationState,
    // A failure was proven by a statement that did not show what it shows now.
    state: row.state === 'failed' && payments.length > 0 ? 'paid' : row.state,
    bankStatus,
    amount: amountCents,
    barCode,
    scheduledFor: row.scheduledFor?.toISOString() ?? null,
    settlement: settlementOfSent({ paidCents, returnedCents, isWithdrawn: row.isWithdrawn }),
    nsu: payments[0]?.nsu ?? null,
    returns: returns.map(({ nsu, amountCents: amount, occurredAt }) => ({
      nsu,
      amount,
      occurredAt: occurredAt.toISOString(),
    })),
    response: answer === null ? null : parseJson(answer),
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
  summary: 'Payments of bills and what became of them, newest first.',
  path: '/v1/bill-payments',
  query: listQuery({ state: z.enum(paymentStates).optional(), barCode: text(44).optional() }),
  response: listOf(billPaymentView),
});

export const getBillPaymentRoute = route({
  ...billPayments,
  name: 'getBillPayment',
  summary: "One payment, by its operation's id, by the bank's, or the newest of a bar code.",
  path: '/v1/bill-payments/{id}',
  params: z.object({ id: text(100) }),
  response: billPaymentView,
});
