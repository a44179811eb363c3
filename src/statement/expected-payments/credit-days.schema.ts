// The API of an account's credit days.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  integerBetween,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { maxCreditDays, paymentWays } from './credit-days.js';

/** Of a payment that a line shows. */
export const paymentTimes = {
  paidAt: z
    .string()
    .nullable()
    .describe('When it was paid: a time, or a day; null where the bank does not show it.'),
  creditedAt: instant,
};

const businessDays = integerBetween(0, maxCreditDays);

const creditDaysView = z.object({
  ways: z.array(
    z.object({
      way: z.enum(paymentWays),
      businessDays: integer.describe('From the payment to its credit.'),
      source: z.enum(['account', 'bank_profile']),
      observed: z
        .object({
          payments: integer,
          spread: z.array(z.object({ businessDays: integer, payments: integer })),
        })
        .nullable()
        .describe(
          'By the payment days that the bank showed in the last 90 days; null below 20 payments.',
        ),
    }),
  ),
  changes: z.array(
    z.object({
      sequence: bigInteger,
      way: z.enum(paymentWays),
      businessDays: integer,
      actor: z.string(),
      reason: z.string(),
      at: instant,
    }),
  ),
});

const base = {
  chapter: 'Reconciliation',
  authentication: 'api-key',
  path: '/v1/credit-days',
} as const;

export const getCreditDays = route({
  ...base,
  method: 'GET',
  name: 'getCreditDays',
  summary: 'Returns how many business days after its payment each way of payment is credited.',
  response: creditDaysView,
});

export const changeCreditDays = route({
  ...base,
  method: 'PUT',
  name: 'changeCreditDays',
  summary: 'Changes the credit days of a way of payment, also for what was paid before.',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    way: z.enum(paymentWays),
    businessDays,
    reason: filledText(500),
  }),
  response: creditDaysView,
});

nameSchemas({ CreditDays: creditDaysView });
