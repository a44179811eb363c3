// Refunds as business systems read them: what was asked for, the bank's answer, and what the statement shows.
import { z } from 'zod';
import { route } from '../contract/route.js';
import { bigInteger, queryNsu, reais, text, timestamp } from '../contract/wire.js';
import { sentSettlements, settlementOfSent } from '../expected-payments/sent-settlement.js';
import { parseJson } from '../platform/exact-json.js';
import { listOf, listQuery } from '../platform/listing.js';
import type { RefundRow } from './refunds.queries.js';

const states = ['requested', 'accepted', 'rejected'] as const;

export const refundView = z.object({
  /** Its operation's id. */
  id: z.string(),
  operationState: z.string(),
  state: z.string(),
  /** The line of the Pix that is given back. */
  originalNsu: bigInteger,
  amount: reais,
  /** The bank's id of the return (`D…`), once told. */
  endToEndId: z.string().nullable(),
  nsu: bigInteger.nullable(),
  settlement: z.enum(sentSettlements),
  /** The bank's answer; null while there is none. */
  response: z.unknown(),
  createdAt: timestamp,
});

export function describeRefund(row: RefundRow): z.output<typeof refundView> {
  const { id, operationState, state, originalNsu, amountCents, endToEndId, nsu, answer } = row;
  return {
    id,
    operationState,
    state,
    originalNsu,
    amount: amountCents,
    endToEndId,
    nsu,
    settlement: settlementOfSent(row),
    response: answer === null ? null : parseJson(answer),
    createdAt: row.createdAt.toISOString(),
  };
}

const refunds = { chapter: 'Refunds', authentication: 'api-key', method: 'GET' } as const;

export const listRefundsRoute = route({
  ...refunds,
  name: 'listRefunds',
  summary: 'Refunds of received Pix and what became of them, newest first.',
  path: '/v1/refunds',
  query: listQuery({ state: z.enum(states).optional(), originalNsu: queryNsu.optional() }),
  response: listOf(refundView),
});

export const getRefundRoute = route({
  ...refunds,
  name: 'getRefund',
  summary: "One refund, by its operation's id, by the bank's id of the return, or by its nsu.",
  path: '/v1/refunds/{id}',
  params: z.object({ id: text(100) }),
  response: refundView,
});
