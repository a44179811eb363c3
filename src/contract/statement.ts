// The statement: every effective transaction of the account. Contract: chapters "Transaction", "Statement".
import { z } from 'zod';
import { route, type Route } from './route.js';
import {
  bigInteger,
  plainDate,
  queryBoolean,
  queryInteger,
  queryList,
  queryNsu,
  reais,
  text,
  timestamp,
} from './wire.js';

export const transaction = z.looseObject({
  id: z.string(),
  correlationId: z.string().nullish(),
  nsu: bigInteger,
  amount: reais,
  notes: z.string().nullish(),
  createdAt: timestamp,
  type: z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    isCredit: z.boolean(),
  }),
  balance: z.looseObject({ balancePrevious: reais, currentBalance: reais }),
  /** Its content depends on the type; a received Pix carries its endToEndId there. */
  proof: z.looseObject({}).nullish(),
});

export type Transaction = z.output<typeof transaction>;

/** Days are read in UTC: a date D bounds at D, 03:00:00.000Z, midnight in São Paulo. */
const statementQuery = z.object({
  page: queryInteger(1).optional(),
  limit: queryInteger(1).optional(),
  nsu: queryNsu.optional(),
  isCredit: queryBoolean.optional(),
  type: queryList(text(60)).optional(),
  startDate: plainDate.optional(),
  endDate: plainDate.optional(),
  endToEndId: text(64).optional(),
});

export type StatementQuery = z.output<typeof statementQuery>;

const statement = {
  chapter: 'Statement',
  summary: 'Lists the effective transactions of the account.',
  method: 'GET',
  authentication: 'api-key',
  query: statementQuery,
} as const;

export const listTransactions = route({
  ...statement,
  name: 'listTransactions',
  path: '/baas/api/v2/transactions',
  response: z.array(transaction),
});

export const listTransactionsV1 = route({
  ...statement,
  name: 'listTransactionsV1',
  path: '/baas/api/v1/transactions',
  response: z.array(transaction),
});

/**
 * The same routes as the mirror and drop-in clients read them: each line as it came, so that one line that
 * cannot be read is set aside and does not hide its neighbours.
 */
export const readStatementPage = asItCame(listTransactions);
export const readStatementPageV1 = asItCame(listTransactionsV1);

function asItCame<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  declared: Route<Params, Query, Body>,
): Route<Params, Query, Body, z.ZodArray<z.ZodUnknown>> {
  return { ...declared, response: z.array(z.unknown()) };
}
