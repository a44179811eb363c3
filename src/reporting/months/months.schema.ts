// The routes of months: how each stands, and what people decide about it.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  integerBetween,
  nameSchemas,
  notNegativeReais,
  patternText,
  plainDate,
  reais,
} from '../../bank-contract/wire.js';
import { MonthAction } from '../../generated/service/enums.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import { reasonText } from '../../reconciliation/breaks/breaks.schema.js';
import { monthParameter } from '../exports/exports.schema.js';
import { checklistNames, itemStates } from './checklist.js';
import { monthStates } from './month-state.js';

const base = { chapter: 'Day closes', authentication: 'api-key' } as const;
const maxLimit = 1_000_000;
const item = z.enum(checklistNames);
const actor = z.string().describe('The id of an API key, or `person:` and an id.');

const standing = {
  month: z.string(),
  state: z.enum(monthStates),
  revision: integer.nullable().describe('Of the close that stands; null if none does.'),
  hash: z.string().nullable().describe('The SHA-256 of its report.'),
};

const monthItem = z.object({ ...standing, closedAt: instant.nullable() });

const limits = {
  maxBreaks: integerBetween(0, maxLimit).describe('So many breaks of a month may be open.'),
  maxBreakAmount: notNegativeReais.describe('Their amounts together may be so much.'),
  maxPendingLines: integerBetween(0, maxLimit).describe('So many lines may be pending.'),
};

const policyView = z.object({
  version: integer.describe('0 without a policy: nothing may stand in the way.'),
  ...{ maxBreaks: integer, maxBreakAmount: reais, maxPendingLines: integer },
});

const checklistItem = z.object({
  ...{ item, state: z.enum(itemStates), count: integer, amount: reais },
  since: plainDate.nullable().describe('The first day of what stands in the way.'),
  mayBeAccepted: z.boolean(),
  reason: z.string().nullable().describe('Of the acceptance that holds.'),
});

const amendment = z.object({
  ...{ nsu: bigInteger, date: plainDate },
  fromState: z.string().nullable().describe('In the report; null for a line that came later.'),
  fromLabel: z.string().nullable().describe('The category, or the kind of break.'),
  ...{ toState: z.string(), toLabel: z.string().nullable() },
  effect: reais.describe('Of the line, negative for a debit.'),
});

const monthView = z.object({
  ...standing,
  firstDay: plainDate.describe('The first day of the account that is certified.'),
  ...{ opening: reais, credits: reais, debits: reais, closing: reais, lines: integer },
  groups: z.record(z.string(), integer).describe('Lines by what they are at present.'),
  figuresHash: z.string().describe('Of the present figures: who signs says what they have seen.'),
  checklist: z.array(checklistItem),
  policy: policyView,
  decisions: z.array(
    z.object({
      ...{ sequence: integer, action: z.enum(MonthAction), item: z.string().nullable() },
      ...{ count: z.union([integer, z.null()]), amount: reais.nullable() },
      seen: z.string().nullable().describe('The figuresHash that was signed.'),
      role: z.string().describe("The person's role at that time, or `api_key`."),
      ...{ actor, reason: z.string().nullable(), at: instant },
    }),
  ),
  closes: z.array(
    z.object({
      ...{ revision: integer, hash: z.string(), at: instant, stands: z.boolean() },
      report: z.string().describe('The exact text that was hashed.'),
    }),
  ),
  amendments: z
    .object({
      ...{ lines: integer, balance: reais.describe('The amounts of lines that came later.') },
      outcomes: reais.describe('The amounts of lines whose outcome changed.'),
      data: z.array(amendment).describe('At most 1,000.'),
    })
    .describe(
      'Of a closed month: what changed since. Of an open one: what changed in the closed months ' +
        'directly before it and is in no report.',
    ),
});

export const listMonths = route({
  ...base,
  method: 'GET',
  name: 'listMonths',
  summary: 'Lists the months of the account, newest first, and which of them are closed.',
  path: '/v1/months',
  query: listQuery({}),
  response: listOf(monthItem),
});

const ofMonth = { ...base, params: z.object({ month: monthParameter }), response: monthView };

export const getMonth = route({
  ...ofMonth,
  method: 'GET',
  name: 'getMonth',
  summary: 'Shows a month: its figures, its checklist, its sign-offs and its amendments.',
  path: '/v1/months/{month}',
});

export const acceptMonthItem = route({
  ...ofMonth,
  method: 'POST',
  name: 'acceptMonthItem',
  summary:
    'Accepts what stands in the way of an item of the checklist. The acceptance holds while the ' +
    'same rows stand in its way. 409 `month_changed` where others do.',
  path: '/v1/months/{month}/acceptances',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    item,
    count: integerBetween(1, 2_000_000_000).describe('As the checklist says it.'),
    amount: notNegativeReais,
    reason: reasonText,
  }),
});
export type NewAcceptance = z.output<typeof acceptMonthItem.body>;

export const signMonth = route({
  ...ofMonth,
  method: 'POST',
  name: 'signMonth',
  summary:
    'Signs a month. One prepares it; another, of a different role, approves it, which closes it ' +
    'and needs the scope `approve`. API keys are one role. 409 `month_not_ready`, with `items`, ' +
    'while an item of the checklist is not met.',
  path: '/v1/months/{month}/sign-offs',
  idempotencyKey: 'accepted',
  body: z.strictObject({
    as: z.enum(['prepare', 'approve']),
    figuresHash: patternText(64, /^[0-9a-f]{64}$/, 'Must be the figuresHash of the month.'),
    reason: filledText(500).optional(),
  }),
});
export type NewSignOff = z.output<typeof signMonth.body>;

export const reopenMonth = route({
  ...ofMonth,
  method: 'POST',
  name: 'reopenMonth',
  summary: 'Reopens a closed month, or withdraws its preparation. Its reports stay.',
  path: '/v1/months/{month}/reopen',
  idempotencyKey: 'accepted',
  body: z.strictObject({ reason: reasonText }),
});

const policiesView = z.object({
  versions: z
    .array(policyView.extend({ actor, reason: z.string(), at: instant }))
    .describe('Newest first: the first one counts.'),
});
const ofPolicy = { ...base, path: '/v1/month-policy', response: policiesView } as const;

export const getMonthPolicy = route({
  ...ofPolicy,
  method: 'GET',
  name: 'getMonthPolicy',
  summary: 'Returns the versions of the limits within which a month may be closed.',
});

export const changeMonthPolicy = route({
  ...ofPolicy,
  method: 'PUT',
  name: 'changeMonthPolicy',
  summary: 'Stores a version of the limits within which a month may be closed.',
  idempotencyKey: 'accepted',
  body: z.strictObject({ ...limits, reason: reasonText }),
});
export type NewMonthPolicy = z.output<typeof changeMonthPolicy.body>;

nameSchemas({ Month: monthView, MonthItem: monthItem, MonthPolicy: policiesView });
