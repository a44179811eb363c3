// The route of the cash forecast.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { instant, integer, plainDate, reais, nameSchemas } from '../../bank-contract/wire.js';

const settled = z.object({
  onTime: reais.describe('From its last payment day on until its credit days are over.'),
  late: reais,
  early: reais,
});

const apart = z.object({
  in: reais,
  out: reais,
  count: integer,
  withoutAmount: integer.describe('QR codes whose payer chooses the amount, in no sum.'),
});

const forecastDay = z.object({
  date: plainDate,
  expectedIn: reais.describe(
    'Open payments that are credited on this day if they are paid on their last day, at what is owed.',
  ),
  expectedOut: reais,
  settledIn: settled.describe('What came of the payments expected on this day, whenever it came.'),
  settledOut: settled,
  unexpectedIn: reais.describe('The part of the lines of this day that no match explains.'),
  unexpectedOut: reais,
  statement: z
    .object({ in: reais, out: reais })
    .nullable()
    .describe('The lines of this day; null for a day that has not begun.'),
  openingBalance: reais,
  closingBalance: reais,
  isProjected: z.boolean().describe('Whether the day is not over.'),
});

export const getCashForecast = route({
  name: 'getCashForecast',
  chapter: 'Reconciliation',
  summary: 'Returns what is expected in and out on each day, what came of it, and the balances.',
  method: 'GET',
  path: '/v1/cash-forecast',
  authentication: 'api-key',
  query: z.object({
    /** Days in São Paulo, both included. Default: today and the 30 days after it. */
    from: plainDate.optional(),
    to: plainDate.optional(),
  }),
  response: z.object({
    from: plainDate,
    to: plainDate,
    today: plainDate.describe('At the bank.'),
    syncedAt: instant.nullable().describe('The last complete sync; null before the first.'),
    days: z.array(forecastDay),
    overdue: apart.describe(
      'Open payments whose last payment day and credit days are past, at what is owed today.',
    ),
    undated: apart.describe('Open payments without a day: they are in no day and no balance.'),
  }),
});

nameSchemas({ ForecastDay: forecastDay });
