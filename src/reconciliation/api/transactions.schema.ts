// The API that reads the result of reconciliation: transactions with their explanation, expected
// payments, and the summary.
import { z } from 'zod';
import { operationKindNames } from '../../bank-contract/operation-kinds.js';
import { route } from '../../bank-contract/route.js';
import { AccountMode } from '../../generated/service/enums.js';
import {
  bigInteger,
  instant,
  integer,
  plainDate,
  queryBoolean,
  queryNsu,
  reais,
  text,
  maxIdLength,
  nameSchemas,
  passedOn,
  storedWord,
} from '../../bank-contract/wire.js';
import { shownCodingFields } from '../../statement/expected-payments/coding.js';
import { metadataQuery, metadataView } from '../../statement/expected-payments/metadata.js';
import { explainingBreakKinds } from '../decide/break-kinds.js';
import { breakEvidence, explanationEvidence } from '../breaks/break-evidence.schema.js';
import { listOf, orderedListQuery, queryReais } from '../../platform/http/listing.js';
import { counterpartyView } from '../../access/counterparties/counterparty.schema.js';
import { ClassificationCategory } from '../../generated/service/client.js';

const book = { authentication: 'api-key', method: 'GET' } as const;

const explanationStates = ['matched', 'classified', 'in_break', 'pending'] as const;

export const transactionView = z.object({
  nsu: bigInteger,
  amount: reais,
  type: z.object({ name: z.string(), isCredit: z.boolean() }),
  correlationId: z.string().nullable(),
  endToEndId: z.string().nullable(),
  externalId: z.string().nullable(),
  notes: z.string().nullable().describe('Null without the scope `personal-data`.'),
  counterparty: counterpartyView.describe('Who paid a credit, or was paid by a debit.'),
  balance: z.object({ balancePrevious: reais, currentBalance: reais }),
  occurredAt: instant,
  recordedAt: instant,
  /** The line's state, with the rule and evidence that decided it. */
  explanation: z.object({
    state: z.enum(explanationStates),
    rule: z.string().nullable(),
    evidence: passedOn(explanationEvidence.nullable()),
    /**
     * The break of the line. For a line without a match or classification, `rule` is the kind of
     * this break.
     */
    breakKind: storedWord(explainingBreakKinds).nullable(),
    breakEvidence: passedOn(breakEvidence.nullable()),
    category: z.enum(ClassificationCategory).nullable().describe('Of a classified line.'),
    ruleId: z.string().nullable().describe("The account's own rule that decided the line."),
    ruleVersion: integer.nullable(),
    expectedPaymentIds: z.array(z.string()),
    candidateIds: z.array(z.string()).describe('The open payments that a debit may pay.'),
    breakId: z.string().nullable(),
  }),
});

export const listTransactionsOfBook = route({
  ...book,
  chapter: 'Reconciliation',
  name: 'listBookTransactions',
  summary: 'Lists statement lines, each with its explanation, newest first.',
  path: '/v1/transactions',
  query: orderedListQuery({
    /** A day in São Paulo. */
    day: plainDate.optional(),
    dayFrom: plainDate.optional().describe('From this day in São Paulo on.'),
    dayTo: plainDate.optional().describe('Until this day in São Paulo.'),
    minAmount: queryReais.optional(),
    maxAmount: queryReais.optional(),
    nsu: queryNsu.optional(),
    /** A correlationId, endToEndId or externalId. */
    reference: text(maxIdLength).optional(),
    state: z.enum(explanationStates).optional(),
    isCredit: queryBoolean.optional(),
    /** Lines matched to payments with this text. */
    metadata: metadataQuery.optional(),
  }),
  response: listOf(transactionView),
});

/**
 * `refunded`: of a received payment, in full; `reversed`: of a sent one. `withdrawn`: no
 * payment is expected any more, because the operation was rejected or proven not executed, or the
 * charge was cancelled.
 */
export const expectedPaymentStates = [
  'open',
  'overdue',
  'partially_settled',
  'settled',
  'overpaid',
  'refunded',
  'partially_reversed',
  'reversed',
  'withdrawn',
] as const;

export const expectedPaymentView = z.object({
  id: z.string(),
  operationId: z.string().nullable().describe('Null for a declared payment.'),
  kind: storedWord([...operationKindNames, 'declared']),
  state: z.enum(expectedPaymentStates),
  isCredit: z.boolean(),
  amount: reais.nullable(),
  settledAmount: reais.describe('The paid amount, before refunds and reversals.'),
  returnedAmount: reais.describe('What of it was refunded (credits) or reversed (debits).'),
  dueDate: z.string().nullable(),
  isMultiUse: z.boolean(),
  references: z.array(z.object({ kind: z.string(), value: z.string() })),
  metadata: metadataView,
  createdAt: instant,
  externalId: z.string().nullable().describe('Of a declared payment; null for others.'),
  amountFrom: reais.nullable(),
  amountTo: reais.nullable(),
  tolerance: reais,
  dateFrom: z.string().nullable(),
  dateTo: z.string().nullable(),
  text: z.string().nullable(),
  /** The tax id is also that of a charge or transfer that has one. */
  counterparty: z.object({ taxId: z.string().nullable(), name: z.string().nullable() }),
  ...shownCodingFields,
  version: integer.nullable(),
});

export const listExpectedPayments = route({
  ...book,
  chapter: 'Reconciliation',
  name: 'listExpectedPayments',
  summary: 'Lists payments that should appear on the statement, with their state, newest first.',
  path: '/v1/expected-payments',
  query: orderedListQuery({
    state: z.enum(expectedPaymentStates).optional(),
    reference: text(maxIdLength).optional(),
    operationId: z.uuid('Must be an operation’s id.').optional(),
    /** Of a declared payment. */
    externalId: text(maxIdLength).optional(),
    metadata: metadataQuery.optional(),
  }),
  response: listOf(expectedPaymentView),
});

export const getSummary = route({
  ...book,
  chapter: 'Reconciliation',
  name: 'getSummary',
  summary:
    'Returns the state of an account: statement completeness, explained lines, work in progress.',
  path: '/v1/summary',
  response: z.object({
    /** `since` and `reason` of the mode are null until an operator changes it. */
    account: z.object({
      mode: z.enum(AccountMode),
      since: instant.nullable(),
      reason: z.string().nullable(),
    }),
    statement: z.object({
      lastNsu: bigInteger.nullable(),
      complete: z.boolean(),
      closedUntil: instant.nullable(),
      balance: reais.nullable(),
      syncedAt: instant.nullable(),
      unreadableLines: bigInteger,
      syncs: bigInteger,
      /** The balance chain stays broken after full re-reads. */
      broken: z.object({ nsu: bigInteger, since: instant }).nullable(),
      /** The progress of the first import of the history, while it runs. */
      import: z
        .object({
          lines: bigInteger,
          oldest: instant.nullable(),
          newest: instant.nullable(),
          startedAt: instant,
          linesPerSecond: integer,
        })
        .nullable(),
      liveBalance: z
        .object({
          ...{ amount: reais, at: instant, nsu: bigInteger, agrees: z.boolean().nullable() },
          blocked: reais.nullable().describe('Of it, as the bank reports it: such as by MED.'),
        })
        .nullable()
        .describe(
          'The balance that the bank last reported while nsu was its newest line, and whether it ' +
            'is the balance of that line. agrees is null where this is not known: newer lines ' +
            'have come since, or a block may explain the difference.',
        ),
    }),
    transactions: z.object({
      total: bigInteger,
      matched: bigInteger,
      classified: bigInteger,
      inBreak: bigInteger,
      pending: bigInteger,
    }),
    /** Expected payments without a line, not withdrawn or cancelled; `open` includes `overdue`. */
    expectedPayments: z.object({ open: bigInteger, overdue: bigInteger }),
    operations: z.object({
      sending: bigInteger,
      unknown: bigInteger,
      needsOperator: bigInteger,
      awaitingApproval: bigInteger,
    }),
    breaks: z.object({ open: bigInteger }),
    webhooks: z.object({
      received: bigInteger,
      pending: bigInteger,
      quarantined: bigInteger,
      registrationFailure: z.string().nullable().describe('Null: the last one succeeded.'),
      refusedEventTypes: z.array(z.string()).describe('Types that the bank does not register.'),
    }),
    deliveries: z.object({ pending: bigInteger, dead: bigInteger }),
  }),
});

nameSchemas({ Transaction: transactionView, ExplainedPayment: expectedPaymentView });
