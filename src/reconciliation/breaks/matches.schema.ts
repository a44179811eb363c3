// Matches: which line pays what was expected, read, made by hand and undone by hand.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import { bigInteger, queryNsu, reais, text, timestamp } from '../../contract/wire.js';
import { listOf, listQuery } from '../../platform/listing.js';
import { allocations, reasonText } from './breaks.schema.js';

const base = { chapter: 'Book', authentication: 'api-key' } as const;

export const matchView = z.object({
  id: z.string(),
  nsu: bigInteger,
  expectedPaymentId: z.string(),
  amount: reais,
  /** `payment`, or `return`: its money coming back. */
  role: z.enum(['payment', 'reversal']),
  /** `hand` where a person made it: no rule and no id takes its place. */
  rule: z.string(),
  evidence: z.unknown(),
  /** The key by which a person made it, and why. */
  madeBy: z.string().nullable(),
  reason: z.string().nullable(),
  createdAt: timestamp,
  unlinkedAt: timestamp.nullable(),
  unlinkedBy: z.string().nullable(),
  unlinkReason: z.string().nullable(),
});

export const listMatches = route({
  ...base,
  method: 'GET',
  name: 'listMatches',
  summary: 'Which line pays what was expected, by which rule, newest first.',
  path: '/v1/matches',
  query: listQuery({
    nsu: queryNsu.optional(),
    expectedPaymentId: z.uuid('Must be an expected payment’s id.').optional(),
  }),
  response: listOf(matchView),
});

export const linkManually = route({
  ...base,
  method: 'POST',
  name: 'linkManually',
  summary: 'Says which expected payments a line pays; the amounts add up to the line.',
  path: '/v1/matches',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z.strictObject({ nsu: bigInteger, allocations, reason: reasonText }),
  response: z.object({ data: z.array(matchView) }),
});

export const unlinkManually = route({
  ...base,
  method: 'DELETE',
  name: 'unlinkManually',
  summary:
    'Undoes all matches of the line that this one is of, with a reason, in the body or the query; the line is judged again without them.',
  path: '/v1/matches/{id}',
  idempotencyKey: 'accepted',
  params: z.object({ id: text(100) }),
  query: z.looseObject({ reason: reasonText.optional() }),
  body: z.strictObject({ reason: reasonText.optional() }).optional(),
  response: z.object({ data: z.array(matchView) }),
});
