import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { bigInteger, instant, integer, reais, text } from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

const health = { authentication: 'api-key', method: 'GET', chapter: 'Webhook health' } as const;

/** Instants, or days in São Paulo; both days are included. They are widened to whole hours. */
const period = { from: text(40).optional(), to: text(40).optional() };

const figures = {
  expected: integer.describe('Notified and lost lines.'),
  notified: integer,
  lost: integer,
  waiting: integer.describe('Lines without a webhook that are too recent to count as lost.'),
  lossRate: z.number().nullable().describe('Lost per expected line; null: none was expected.'),
  lag: z
    .object({ p50: integer.nullable(), p99: integer.nullable(), max: integer.nullable() })
    .describe(
      'Milliseconds from the movement at the bank to its first webhook, rounded to two ' +
        'significant digits.',
    ),
};

export const getWebhookHealth = route({
  ...health,
  name: 'getWebhookHealth',
  summary:
    'Returns webhook health against the statement: loss, lag and copies. ' +
    'The period is widened to whole hours. A line and its webhook count once both are synced.',
  path: '/v1/webhook-health',
  query: z.object(period),
  response: z.object({
    from: instant,
    to: instant,
    ...figures,
    transactions: z.array(z.object({ type: z.string(), ...figures })).describe('By type.'),
    /** Received webhooks by event type. `copies` counts repeats of the same body. */
    events: z.array(
      z.object({
        eventType: z.string(),
        received: integer,
        copies: integer,
        quarantined: integer,
      }),
    ),
    syncIntervalMs: integer.nullable().describe('As adjusted to the health; null: by the setting.'),
  }),
});

export const listUnnotifiedTransactions = route({
  ...health,
  name: 'listUnnotifiedTransactions',
  summary: 'Lists transactions that no webhook reported, newest first.',
  path: '/v1/webhook-health/unnotified',
  query: listQuery(period),
  response: listOf(
    z.object({
      nsu: bigInteger,
      amount: reais,
      type: z.object({ name: z.string(), isCredit: z.boolean() }),
      correlationId: z.string().nullable(),
      endToEndId: z.string().nullable(),
      occurredAt: instant,
      recordedAt: instant,
    }),
  ),
});
