// The book as business systems read it: transactions with their explanation, what was expected, and
// the summary of it all.
import { z } from 'zod';
import { route } from '../contract/route.js';
import {
  bigInteger,
  integer,
  plainDate,
  queryBoolean,
  queryNsu,
  reais,
  text,
  timestamp,
} from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';
import { categories } from './line-outcome.js';

const book = { authentication: 'api-key', method: 'GET' } as const;

export const explanationStates = ['matched', 'classified', 'in_break', 'pending'] as const;

const transactionView = z.object({
  nsu: bigInteger,
  amount: reais,
  type: z.object({ name: z.string(), isCredit: z.boolean() }),
  correlationId: z.string().nullable(),
  endToEndId: z.string().nullable(),
  externalId: z.string().nullable(),
  notes: z.string().nullable(),
  balance: z.object({ balancePrevious: reais, currentBalance: reais }),
  occurredAt: timestamp,
  recordedAt: timestamp,
  /** What the line is, by which rule, and what shows it. */
  explanation: z.object({
    state: z.enum(explanationStates),
    rule: z.string().nullable(),
    evidence: z.unknown(),
    /** Of a line in a break: which, and what shows it. What has only a break has its kind as the rule, too. */
    breakKind: z.string().nullable(),
    breakEvidence: z.unknown(),
    /** Of a classified line: what it is. */
    category: z.enum(categories).nullable(),
    /** The version of the account's own rule that said so. */
    ruleId: z.string().nullable(),
    ruleVersion: integer.nullable(),
    expectedPaymentIds: z.array(z.string()),
    breakId: z.string().nullable(),
  }),
});

export const listTransactionsOfBook = route({
  ...book,
  chapter: 'Book',
  name: 'listBookTransactions',
  summary: 'Lines of the statement, each with its explanation, newest first.',
  path: '/v1/transactions',
  query: listQuery({
    /** A day in São Paulo. */
    day: plainDate.optional(),
    nsu: queryNsu.optional(),
    /** A correlationId, endToEndId or externalId. */
    reference: text(100).optional(),
    state: z.enum(explanationStates).optional(),
    isCredit: queryBoolean.optional(),
  }),
  response: listOf(transactionView),
});

/** `withdrawn`: nothing is to come any more, by the bank's answer, by proof, or for the charge was cancelled. */
export const expectedPaymentStates = [
  'open',
  'overdue',
  'partially_settled',
  'settled',
  'overpaid',
  'refunded',
  'partially_refunded',
  'reversed',
  'partially_reversed',
  'withdrawn',
] as const;

export const listExpectedPayments = route({
  ...book,
  chapter: 'Book',
  name: 'listExpectedPayments',
  summary: 'What should appear on the statement, and whether it did, newest first.',
  path: '/v1/expected-payments',
  query: listQuery({
    state: z.enum(expectedPaymentStates).optional(),
    reference: text(100).optional(),
    operationId: z.uuid('Must be an operation’s id.').optional(),
  }),
  response: listOf(
    z.object({
      id: z.string(),
      operationId: z.string(),
      kind: z.string(),
      state: z.enum(expectedPaymentStates),
      isCredit: z.boolean(),
      amount: reais.nullable(),
      /** What was paid, whether or not it came back. */
      settledAmount: reais,
      returnedAmount: reais,
      dueDate: z.string().nullable(),
      isMultiUse: z.boolean(),
      references: z.array(z.object({ kind: z.string(), value: z.string() })),
      createdAt: timestamp,
    }),
  ),
});

export const getSummary = route({
  ...book,
  chapter: 'Book',
  name: 'getSummary',
  summary:
    'The account at a glance: is the statement whole, is all of it explained, what is under way.',
  path: '/v1/summary',
  response: z.object({
    statement: z.object({
      lastNsu: bigInteger.nullable(),
      complete: z.boolean(),
      closedUntil: timestamp.nullable(),
      balance: reais.nullable(),
      syncedAt: timestamp.nullable(),
      unreadableLines: integer,
      syncs: integer,
      /** The chain of balances does not hold, however often it was read. */
      broken: z.object({ nsu: bigInteger, since: timestamp }).nullable(),
      /** How far the first reading of the history is, while it goes on. */
      import: z
        .object({
          lines: integer,
          oldest: timestamp.nullable(),
          newest: timestamp.nullable(),
          startedAt: timestamp,
          linesPerSecond: integer,
        })
        .nullable(),
      /** What the bank said the account holds, and whether the last line says so too. */
      liveBalance: z.object({ amount: reais, at: timestamp, agrees: z.boolean() }).nullable(),
    }),
    transactions: z.object({
      total: integer,
      matched: integer,
      classified: integer,
      inBreak: integer,
      pending: integer,
    }),
    /** Without a line, and not withdrawn or cancelled; overdue ones are open too. */
    expectedPayments: z.object({ open: integer, overdue: integer }),
    operations: z.object({ sending: integer, unknown: integer, needsOperator: integer }),
    breaks: z.object({ open: integer }),
    webhooks: z.object({ received: integer, pending: integer, quarantined: integer }),
    deliveries: z.object({ pending: integer, dead: integer }),
  }),
});
