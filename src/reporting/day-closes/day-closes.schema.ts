// The API of day closes: certificates as business systems read them.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  integer,
  plainDate,
  reais,
  text,
  timestamp,
  nameSchemas,
} from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

const base = { chapter: 'Day closes', authentication: 'api-key', method: 'GET' } as const;

const amounts = z.object({ count: integer, credits: reais, debits: reais });

export const dayCloseView = z.object({
  date: z.string(),
  revision: integer,
  sequence: integer.describe("The number of the certificate in the account's chain, from 1."),
  opening: reais,
  credits: reais,
  debits: reais,
  closing: reais,
  counts: z.object({
    lines: integer,
    matched: integer,
    classified: z.record(z.string(), integer),
    inBreak: z.record(z.string(), integer),
  }),
  sums: z.object({
    matched: amounts,
    classified: z.record(z.string(), amounts),
    inBreak: z.record(z.string(), amounts),
  }),
  /**
   * `straddling_line`: a line whose nsu and time lie on different sides of the day's end.
   * `accepted_difference`: a jump of the balance at a line, which a person accepted in a break.
   */
  reconcilingItems: z.array(
    z.object({
      kind: z.enum(['straddling_line', 'accepted_difference']),
      nsu: bigInteger,
      occurredAt: timestamp,
      amount: reais,
      breakId: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  firstNsu: bigInteger.nullable(),
  lastNsu: bigInteger.nullable(),
  linesRoot: z.string(),
  previousHash: z.string(),
  hash: z.string(),
  createdAt: instant,
});

export const listDayCloses = route({
  ...base,
  name: 'listDayCloses',
  summary: 'Lists the current certificate of each day, newest first.',
  path: '/v1/day-closes',
  query: listQuery({ from: plainDate.optional(), to: plainDate.optional() }),
  response: listOf(dayCloseView),
});

export const listOutcomeChangesOfDay = route({
  ...base,
  name: 'listOutcomeChangesOfDay',
  summary:
    'Lists the certified outcomes that changed before the current certificate of a day and after ' +
    'the certificate before it in the chain. Each line of the list is a leaf of `outcomeChanges`.',
  path: '/v1/day-closes/{date}/outcome-changes',
  params: z.object({ date: text(20) }),
  query: listQuery({}),
  response: listOf(z.object({ nsu: bigInteger, formerLeaf: z.string(), leaf: z.string() })),
});

export const getDayClose = route({
  ...base,
  name: 'getDayClose',
  summary:
    'Shows the certificate of a day, with all its revisions and the exact texts that were hashed.',
  path: '/v1/day-closes/{date}',
  params: z.object({ date: text(20) }),
  response: dayCloseView.extend({
    /**
     * Oldest first; `hash` is the SHA-256 of `certificate`, and `signature` the one of its `key`
     * (Ed25519, base64url) over the bytes of the text.
     */
    revisions: z.array(
      z.object({
        revision: integer,
        sequence: integer,
        certificate: z.string(),
        hash: z.string(),
        signature: z.string().nullable(),
        createdAt: instant,
      }),
    ),
  }),
});

nameSchemas({ DayAmounts: amounts, DayClose: dayCloseView });
