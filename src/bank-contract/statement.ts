// The statement, with every effective transaction of the account, and the account's balances.
// Contract: chapters "Transaction", "Statement".
import { z } from 'zod';
import { route } from './route.js';
import {
  bigInteger,
  maxIdLength,
  plainDate,
  queryBoolean,
  queryInteger,
  queryList,
  queryNsu,
  reais,
  text,
  timestamp,
  unneeded,
  unneededId,
  unneededText,
  nameSchemas,
} from './wire.js';

/** As a refund's response. What a line of the statement needs, `parseStatementLine` requires. */
export const transaction = z.looseObject({
  id: unneededId,
  correlationId: unneededId,
  nsu: unneeded(bigInteger),
  amount: reais,
  notes: unneededText,
  createdAt: unneeded(timestamp),
  type: unneeded(
    z.looseObject({
      name: unneededText,
      description: unneededText,
      isCredit: unneeded(z.boolean()),
    }),
  ),
  balance: unneeded(
    z.looseObject({ balancePrevious: unneeded(reais), currentBalance: unneeded(reais) }),
  ),
  /** Its content depends on the type. The proof of a received Pix contains its endToEndId. */
  proof: unneeded(z.looseObject({})),
});

export type Transaction = z.output<typeof transaction>;

/** A date D as a bound means D at 03:00:00.000Z, midnight in São Paulo. */
const statementQuery = z.object({
  page: queryInteger(1).optional(),
  limit: queryInteger(1).optional(),
  nsu: queryNsu.optional(),
  isCredit: queryBoolean.optional(),
  type: queryList(text(maxIdLength)).optional(),
  startDate: plainDate.optional(),
  endDate: plainDate.optional(),
  endToEndId: text(64).optional(),
});

export type StatementQuery = z.output<typeof statementQuery>;

const statementRoute = {
  chapter: 'Statement',
  summary: 'Lists the effective transactions of the account.',
  method: 'GET',
  authentication: 'api-key',
  query: statementQuery,
  /** Null stands for one that cannot be read. */
  response: z.array(unneeded(transaction)),
} as const;

export const listTransactions = route({
  ...statementRoute,
  name: 'listTransactions',
  path: '/baas/api/v2/transactions',
});

export const listTransactionsV1 = route({
  ...statementRoute,
  name: 'listTransactionsV1',
  path: '/baas/api/v1/transactions',
});

/**
 * The same route with unparsed lines, for the statement sync. One line that cannot be parsed
 * therefore does not make the other lines of its page unreadable.
 */
export const readStatementPage = { ...listTransactions, response: z.array(z.unknown()) };

/** Of the sandbox bank alone. The contract does not show whose account a key opens. */
export const readSandboxAccount = route({
  name: 'readSandboxAccount',
  chapter: 'Statement',
  summary: 'Returns the identity of the account of the API key.',
  method: 'GET',
  path: '/sandbox/account',
  authentication: 'api-key',
  response: z.looseObject({
    bank: z.looseObject({ code: z.string(), ispb: z.string(), name: z.string() }),
    branch: z.string(),
    number: z.string(),
    holder: z.looseObject({ name: z.string(), document: z.string() }),
  }),
});

/** Beyond the contract: publicly known of the real service (`amountAvailable` alone). */
export const readBalances = route({
  name: 'readBalances',
  isBeyondContract: true,
  chapter: 'Statement',
  summary: 'Returns the balance of the account and the part of it that is available.',
  method: 'GET',
  path: '/baas/api/v1/balances',
  authentication: 'api-key',
  response: z.looseObject({
    amountAvailable: reais,
    amountBlocked: unneeded(reais).describe('Blocked for movements that are not effective yet.'),
    amountTotal: unneeded(reais),
  }),
});

nameSchemas({ BankTransaction: transaction });
