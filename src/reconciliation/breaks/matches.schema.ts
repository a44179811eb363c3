// The API of matches: listing, manual linking and manual unlinking.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  instant,
  queryNsu,
  reais,
  text,
  nameSchemas,
  passedOn,
  storedWord,
} from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { matchRules } from '../decide/model.js';
import { matchEvidence } from './break-evidence.schema.js';
import { allocations, reasonText, refundOf } from './breaks.schema.js';

const base = { chapter: 'Reconciliation', authentication: 'api-key' } as const;

export const matchView = z.object({
  id: z.string(),
  nsu: bigInteger,
  expectedPaymentId: z.string(),
  amount: reais,
  fee: reais.nullable().describe('What a net settlement withheld; null for other matches.'),
  role: z.enum(['payment', 'reversal']).describe('`reversal`: the money was reversed.'),
  rule: storedWord(matchRules).describe(
    '`manual` if a person made the match: no rule and no reference displaces it.',
  ),
  evidence: passedOn(matchEvidence),
  madeBy: z.string().nullable().describe("For a manual match: the API key's id, and the reason."),
  reason: z.string().nullable(),
  createdAt: instant,
  unlinkedAt: instant.nullable(),
  unlinkedBy: z.string().nullable(),
  unlinkReason: z.string().nullable(),
});

export const listMatches = route({
  ...base,
  method: 'GET',
  name: 'listMatches',
  summary: 'Lists matches of statement lines and expected payments, newest first.',
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
  summary:
    'Links a line to the expected payments that it pays, or a debit to the received payments that ' +
    'it refunds; the amounts must sum to the line.',
  path: '/v1/matches',
  idempotencyKey: 'accepted',
  successStatus: 201,
  body: z
    .strictObject({
      nsu: bigInteger,
      allocations: allocations.optional(),
      refundOf: refundOf.optional(),
      reason: reasonText,
    })
    .refine((body) => (body.allocations === undefined) !== (body.refundOf === undefined), {
      message: 'Must have either allocations or refundOf.',
      path: ['allocations'],
    }),
  response: z.object({ data: z.array(matchView) }),
});

export const unlinkManually = route({
  ...base,
  method: 'DELETE',
  name: 'unlinkManually',
  summary:
    'Unlinks all matches of the line and decides it again. Reason: in the body or query. ' +
    'A debit whose refunded Pix pays nothing has no match: its nsu stands for the id.',
  path: '/v1/matches/{id}',
  idempotencyKey: 'accepted',
  params: z.object({ id: text(100) }),
  query: z.looseObject({ reason: reasonText.optional() }),
  body: z.strictObject({ reason: reasonText.optional() }).optional(),
  response: z.object({ data: z.array(matchView) }),
});

nameSchemas({ Match: matchView });
