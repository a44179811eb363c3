// Breaks as business systems read them, and what is done about them.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import {
  bigInteger,
  filledText,
  integer,
  plainDate,
  positiveReais,
  queryNsu,
  reais,
  text,
  timestamp,
} from '../../contract/wire.js';
import { listOf, listQuery } from '../../platform/listing.js';
import { candidateReasons } from './candidate-ranking.js';
import { severities } from './severity.js';

const base = { chapter: 'Breaks', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
const breakStates = ['open', 'resolved'] as const;

/** Why a person did something: it stays in the book. */
export const reasonText = filledText(500).refine(
  (value) => value.trim().length >= 3,
  'Must have at least 3 characters.',
);

const expectedPaymentId = z.uuid('Must be an expected payment’s id.');
export const allocations = z
  .array(
    z.strictObject({ expectedPaymentId, amount: positiveReais }),
    'Must be a list of allocations.',
  )
  .min(1, 'Must have at least one allocation.')
  .max(100, 'Must have at most 100 allocations.');

export const breakView = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.enum(breakStates),
  amount: reais.nullable(),
  nsu: bigInteger.nullable(),
  expectedPaymentId: z.string().nullable(),
  evidence: z.unknown(),
  /** By amount and age; of one that is resolved, as it was when it was. */
  severity: z.enum(severities),
  /** Days at the bank from its opening, until today or until it was resolved. */
  ageDays: integer,
  openedAt: timestamp,
  resolvedAt: timestamp.nullable(),
  /** `itself`, or the action that settled it. */
  resolution: z.string().nullable(),
});

/** One break, with all that was done about it and what it might be. */
export const breakDetail = breakView.extend({
  trail: z.array(
    z.object({
      action: z.string(),
      /** A key's id, or `policy`; null for what came about by itself. */
      actor: z.string().nullable(),
      reason: z.string().nullable(),
      detail: z.unknown(),
      at: timestamp,
    }),
  ),
  /** The likeliest first; empty for a break that is resolved. */
  candidates: z.array(
    z.object({
      /** What a line might pay. */
      expectedPaymentId: z.string().nullable(),
      /** The line that might pay what is expected. */
      nsu: bigInteger.nullable(),
      kind: z.string(),
      amount: reais.nullable(),
      day: z.string(),
      /** Of 100. */
      score: integer,
      reasons: z.array(z.enum(candidateReasons)),
    }),
  ),
});

const queryReais = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,2})?$/, 'Must be an amount in reais.')
  .transform((value) => {
    const [whole = '0', cents = ''] = value.split('.');
    return BigInt(whole) * 100n + BigInt(cents.padEnd(2, '0'));
  });

export const listBreaks = route({
  ...base,
  method: 'GET',
  name: 'listBreaks',
  summary: 'Disagreements that someone must settle, newest first.',
  path: '/v1/breaks',
  query: listQuery({
    state: z.enum(breakStates).optional(),
    kind: text(60).optional(),
    nsu: queryNsu.optional(),
    expectedPaymentId: expectedPaymentId.optional(),
    minAmount: queryReais.optional(),
    /** Days at the bank, both included. */
    openedFrom: plainDate.optional(),
    openedTo: plainDate.optional(),
    /** Of open breaks. */
    severity: z.enum(severities).optional(),
  }),
  response: listOf(breakView),
});

export const getBreak = route({
  ...base,
  method: 'GET',
  name: 'getBreak',
  summary: 'One break, with what was done about it and the candidates for what it is.',
  path: '/v1/breaks/{id}',
  params,
  response: breakDetail,
});

const reason = reasonText;
const actions = [
  z.strictObject({
    action: z.literal('link'),
    reason,
    /** What the break’s line pays, all of it. */
    expectedPaymentId: expectedPaymentId.optional(),
    /** What the break’s line pays, in parts that add up to it. */
    allocations: allocations.optional(),
    /** The line that pays what the break expected. */
    nsu: bigInteger.optional(),
  }),
  z.strictObject({ action: z.literal('accept'), reason }),
  z.strictObject({ action: z.literal('refund'), reason, amount: positiveReais.optional() }),
  z.strictObject({ action: z.literal('resend'), reason }),
  z.strictObject({ action: z.literal('reopen'), reason }),
  z.strictObject({ action: z.literal('note'), reason }),
] as const;

export const breakAction = z.discriminatedUnion('action', actions, {
  error: 'Must be one of link, accept, refund, resend, reopen, note.',
});
export type BreakAction = z.output<typeof breakAction>;

export const actOnBreak = route({
  ...base,
  method: 'POST',
  name: 'actOnBreak',
  summary:
    'Links, accepts, refunds, sends again, opens again or notes: each with its reason, and written down.',
  path: '/v1/breaks/{id}/actions',
  idempotencyKey: 'accepted',
  params,
  body: breakAction,
  response: breakDetail,
});

export const bulkActions = ['accept', 'note', 'refund', 'reopen'] as const;
export const maxBulk = 500;

export const actOnBreaks = route({
  ...base,
  method: 'POST',
  name: 'actOnBreaks',
  summary: 'One action on many breaks; what fails for one stops no other.',
  path: '/v1/breaks/actions',
  idempotencyKey: 'accepted',
  body: z
    .strictObject({
      ids: z.array(text(100)).min(1).max(maxBulk, `Must name at most ${maxBulk}.`).optional(),
      /** The oldest first, 500 at a time; resolved ones for `reopen`, open ones otherwise. */
      filter: z
        .strictObject({
          kind: text(60),
          openedBefore: plainDate.optional(),
          maxAmount: positiveReais.optional(),
        })
        .optional(),
      action: z.enum(bulkActions, `Must be one of ${bulkActions.join(', ')}.`),
      reason,
    })
    .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
      message: 'Must have either ids or filter.',
      path: ['ids'],
    }),
  response: z.object({
    data: z.array(
      z.object({
        id: z.string(),
        /** `unchanged`: it had been settled in this way before. */
        outcome: z.enum(['done', 'unchanged', 'refused']),
        state: z.enum(breakStates).nullable(),
        /** Why it was refused, for machines and for people. */
        code: z.string().nullable(),
        title: z.string().nullable(),
      }),
    ),
    counts: z.object({ done: integer, unchanged: integer, refused: integer }),
  }),
});
