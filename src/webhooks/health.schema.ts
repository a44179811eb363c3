import { z } from 'zod';
import { route } from '../contract/route.js';
import { bigInteger, integer, reais, text, timestamp } from '../contract/wire.js';
import { listOf, listQuery } from '../platform/listing.js';

const health = { authentication: 'api-key', method: 'GET', chapter: 'Webhook health' } as const;

/** Instants, or days of the statement, both included. */
const period = { from: text(40).optional(), to: text(40).optional() };

const figures = {
  /** Lines that were told, and those that were not and are older than a webhook takes. */
  expected: integer,
  notified: integer,
  lost: integer,
  /** Not told, and too young to say more. */
  waiting: integer,
  /** Lost of expected, to four decimals; null where nothing was expected. */
  lossRate: z.number().nullable(),
  /** Milliseconds from the movement at the bank to its first webhook. */
  lag: z.object({ p50: integer.nullable(), p99: integer.nullable(), max: integer.nullable() }),
};

export const getWebhookHealth = route({
  ...health,
  name: 'getWebhookHealth',
  summary: 'What the bank’s webhooks told of what its statement shows: loss, lag and copies.',
  path: '/v1/webhook-health',
  query: z.object(period),
  response: z.object({
    from: timestamp,
    to: timestamp,
    ...figures,
    /** By the kind of line. */
    transactions: z.array(z.object({ type: z.string(), ...figures })),
    /** What came in, by kind: first receipts, and how often one came again. */
    events: z.array(
      z.object({
        eventType: z.string(),
        received: integer,
        copies: integer,
        quarantined: integer,
      }),
    ),
    /** Milliseconds between polls as the health asks for; null where the settings' serve. */
    syncIntervalMs: integer.nullable(),
  }),
});

export const listUnnotifiedTransactions = route({
  ...health,
  name: 'listUnnotifiedTransactions',
  summary: 'Transactions that no webhook told of, newest first.',
  path: '/v1/webhook-health/unnotified',
  query: listQuery(period),
  response: listOf(
    z.object({
      nsu: bigInteger,
      amount: reais,
      type: z.object({ name: z.string(), isCredit: z.boolean() }),
      correlationId: z.string().nullable(),
      endToEndId: z.string().nullable(),
      occurredAt: timestamp,
      recordedAt: timestamp,
    }),
  ),
});
