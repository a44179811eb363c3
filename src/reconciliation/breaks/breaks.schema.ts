// The API of breaks: reading them and acting on them.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  patternText,
  plainDate,
  positiveReais,
  queryBoolean,
  queryNsu,
  reais,
  text,
  nameSchemas,
  passedOn,
  describeAs,
  storedWord,
} from '../../bank-contract/wire.js';
import { counterpartyView } from '../../access/counterparties/counterparty.schema.js';
import { codingBody, codingView } from '../../statement/expected-payments/coding.js';
import { listOf, listQuery, queryReais } from '../../platform/http/listing.js';
import { breakKinds } from '../decide/break-kind-declarations.js';
import { unionByBreakKind } from './break-evidence.schema.js';
import { candidateReasons } from './candidate-ranking.js';
import { severities } from './severity.js';

const base = { chapter: 'Breaks', authentication: 'api-key' } as const;
const params = z.object({ id: text(100) });
const breakStates = ['open', 'resolved'] as const;

/** Of a reason code, which an account chooses. */
export const reasonCodeText = patternText(
  40,
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  'Must have letters, digits, dots, hyphens and underscores only.',
);

/** Why a person acted; stored in the history. */
export const reasonText = filledText(500)
  .refine((value) => value.trim().length >= 3, 'Must have at least 3 characters.')
  .meta({ minLength: 3 });

const expectedPaymentId = z.uuid('Must be an expected payment’s id.');
export const allocations = z
  .array(z.strictObject({ expectedPaymentId, amount: positiveReais }))
  .min(1)
  .max(100);

export const refundOf = z
  .array(
    z.strictObject({
      nsu: bigInteger.describe('The received payment that the debit refunds.'),
      amount: positiveReais,
      expectedPaymentId: expectedPaymentId
        .optional()
        .describe('Which of the payments that it makes was refunded, where it makes several.'),
    }),
  )
  .min(1)
  .max(100);

export const breakView = z.object({
  id: z.string(),
  kind: z.string(),
  state: z.enum(breakStates),
  amount: reais.nullable(),
  nsu: bigInteger.nullable(),
  expectedPaymentId: z.string().nullable(),
  counterparty: counterpartyView
    .nullable()
    .describe('Of its line, or else of its expected payment; null without either.'),
  evidence: z.unknown(),
  severity: z.enum(severities).describe('From amount and age, until it is resolved.'),
  ageDays: integer.describe(
    'Days at the bank from that of its line, or else of its opening, until its resolution or today.',
  ),
  openedAt: instant,
  resolvedAt: instant.nullable(),
  resolution: storedWord(['automatic', 'link', 'accept', 'refund'])
    .nullable()
    .describe('`automatic`, or the action that resolved it.'),
  assignee: z.string().nullable().describe('The id of the person who works on it.'),
  snoozedUntil: z
    .string()
    .nullable()
    .describe('The day at the bank until which it is put off; null from that day on.'),
});

const shownBreak = unionByBreakKind(breakView);
describeAs(breakView, shownBreak);

const cents = z.string().describe('An amount in cents, as text.');
const historyDetail = z
  .object({
    ...{ resolution: z.string(), evidence: z.looseObject({}), fromCents: cents, toCents: cents },
    ...{ nsu: z.string(), key: z.string(), amountCents: cents, ofCents: cents },
    ...{ operationId: z.string(), state: z.string(), reason: z.string() },
    ...{ reasonCode: z.string().nullable(), coding: codingView },
    ...{ cents: cents.nullable(), jumps: z.array(z.looseObject({})).nullable() },
    ...{ assignee: z.string().nullable(), until: z.string().nullable() },
  })
  .partial()
  .describe('By `action`: what it changed, covers, links or refunds.');

const historyFields = {
  history: z.array(
    z.object({
      action: z.string(),
      actor: z.string().nullable().describe("An API key's id, or `policy`; null: automatic."),
      reason: z.string().nullable(),
      detail: passedOn(historyDetail),
      at: instant,
    }),
  ),
  /** Those that share an id, then the nearest in amount and day; empty for a resolved break. */
  candidates: z.array(
    z.object({
      expectedPaymentId: z.string().nullable().describe('Of a line: what it may pay.'),
      nsu: bigInteger.nullable().describe('Of an expected payment: the line that may pay it.'),
      kind: z.string(),
      counterparty: counterpartyView.describe('Of the expected payment or line.'),
      amount: reais.nullable(),
      day: z.string(),
      score: integer.describe('0 to 100.'),
      reasons: z.array(z.enum(candidateReasons)),
    }),
  ),
};

/** One break with its history and candidates. */
export const breakDetail = breakView.extend(historyFields);
describeAs(breakDetail, shownBreak.and(z.object(historyFields)));

export const breakSorts = ['opened', 'age', 'amount', 'severity'] as const;

const breakKind = z.enum(Object.keys(breakKinds));

export const listBreaks = route({
  ...base,
  method: 'GET',
  name: 'listBreaks',
  summary: 'Lists breaks, newest first, or by age, amount or severity.',
  path: '/v1/breaks',
  query: listQuery({
    state: z.enum(breakStates).optional(),
    kind: breakKind.optional(),
    nsu: queryNsu.optional(),
    expectedPaymentId: expectedPaymentId.optional(),
    minAmount: queryReais.optional(),
    maxAmount: queryReais.optional(),
    openedFrom: plainDate.optional(),
    openedTo: plainDate.optional(),
    severity: z.enum(severities).optional().describe('Selects open breaks of this severity.'),
    assignee: z
      .union([z.literal('none'), z.uuid()], 'Must be the id of a person, or none.')
      .optional()
      .describe('Selects by the id of the person who works on it; `none`: by nobody.'),
    snoozed: queryBoolean
      .optional()
      .describe('Selects what is put off until a later day, or what is not.'),
    sort: z
      .enum(breakSorts)
      .optional()
      .describe('By what it is ordered; `age`, `amount` and `severity` select open breaks only.'),
    order: z
      .enum(['asc', 'desc'])
      .optional()
      .describe(
        '`desc` by default: the newest, the largest, the most severe first; of one severity, the larger and then the older.',
      ),
  }),
  response: listOf(breakView),
});

export const getBreak = route({
  ...base,
  method: 'GET',
  name: 'getBreak',
  summary: 'Returns one break with its history and, while it is open, its candidates.',
  path: '/v1/breaks/{id}',
  params,
  response: breakDetail,
});

const reason = reasonText;
const coded = {
  reasonCode: reasonCodeText.optional().describe('An active reason code of the account.'),
  coding: codingBody.optional().describe('Of the money; stands above that of the reason code.'),
};
const actions = [
  z.strictObject({
    action: z.literal('link'),
    reason,
    ...coded,
    expectedPaymentId: expectedPaymentId
      .optional()
      .describe('The expected payment that the break’s line pays in full.'),
    allocations: allocations
      .optional()
      .describe('The expected payments that the break’s line pays; the amounts sum to the line.'),
    refundOf: refundOf
      .optional()
      .describe('In place of them: what the break’s debit refunds; the amounts sum to the line.'),
    nsu: bigInteger.optional().describe('The line that pays the break’s expected payment.'),
  }),
  z.strictObject({ action: z.literal('accept'), reason, ...coded }),
  z.strictObject({ action: z.literal('refund'), reason, amount: positiveReais.optional() }),
  z.strictObject({ action: z.literal('resend'), reason }),
  z.strictObject({ action: z.literal('reopen'), reason }),
  z.strictObject({ action: z.literal('note'), reason, ...coded }),
] as const;

const breakAction = z.discriminatedUnion('action', actions, {
  error: 'Must be one of link, accept, refund, resend, reopen, note.',
});
export type BreakAction = z.output<typeof breakAction>;

export const actOnBreak = route({
  ...base,
  method: 'POST',
  name: 'actOnBreak',
  summary:
    'Links, accepts, refunds, resends, reopens or annotates a break, and records the reason. The ' +
    'response masks counterparties, because it is stored for repeats.',
  path: '/v1/breaks/{id}/actions',
  idempotencyKey: 'accepted',
  params,
  body: breakAction,
  response: breakDetail,
});

const bulkActions = ['accept', 'note', 'refund', 'reopen'] as const;
export const maxBulk = 500;

export const actOnBreaks = route({
  ...base,
  method: 'POST',
  name: 'actOnBreaks',
  summary: 'Applies one action to many breaks; a failure for one does not stop the others.',
  path: '/v1/breaks/actions',
  idempotencyKey: 'accepted',
  body: z
    .strictObject({
      ids: z.array(text(100)).min(1).max(maxBulk).optional(),
      /** The oldest 500; resolved breaks for `reopen`, open ones otherwise. */
      filter: z
        .strictObject({
          kind: breakKind,
          openedBefore: plainDate.optional(),
          maxAmount: positiveReais.optional(),
        })
        .optional(),
      action: z.enum(bulkActions),
      reason,
      ...coded,
    })
    .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
      message: 'Must have either ids or filter.',
      path: ['ids'],
    })
    .refine(
      ({ action, reasonCode, coding }) =>
        action === 'accept' || action === 'note' || (reasonCode ?? coding) === undefined,
      { message: 'Is allowed with accept and note only.', path: ['reasonCode'] },
    ),
  response: z.object({
    data: z.array(
      z.object({
        id: z.string(),
        outcome: z
          .enum(['done', 'unchanged', 'refused'])
          .describe('`unchanged`: the break already had the state that the action leads to.'),
        state: z.enum(breakStates).nullable(),
        code: z.string().nullable().describe('Why it was refused; `title` says it in words.'),
        title: z.string().nullable(),
      }),
    ),
    counts: z.object({ done: integer, unchanged: integer, refused: integer }),
  }),
});

export type BulkAction = z.output<typeof actOnBreaks.body>;

nameSchemas({
  Break: shownBreak,
  BreakDetail: breakDetail,
  BreakKind: breakKind,
  BreakAction: breakAction,
});
