// The API of the account's own rules.
import { z } from 'zod';
import { failing, fieldError, refuse, type FieldError } from '../../bank-contract/field-errors.js';
import { route } from '../../bank-contract/route.js';
import {
  bigInteger,
  filledText,
  instant,
  integer,
  integerBetween,
  plainDate,
  positiveReais,
  reais,
  text,
  nameSchemas,
  passedOn,
} from '../../bank-contract/wire.js';
import { normalizeTaxId } from '../../brazil/tax-id.js';
import { codingBody } from '../../statement/expected-payments/coding.js';
import { isWideRange } from '../../statement/expected-payments/declared-terms.js';
import {
  isMeaningless,
  maxPatternLength,
  problemOfPattern,
} from '../../statement/expected-payments/text-pattern.js';
import { listOf, listQuery } from '../../platform/http/listing.js';
import {
  criteria,
  declaredCategories,
  salesGroups,
  type Criterion,
  type SalesGroup,
} from '../decide/rule.js';

const amountRange = z
  .strictObject({ min: positiveReais.optional(), max: positiveReais.optional() })
  .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
    path: ['max'],
    ...failing('less_than_field', { field: 'min' }),
  });

const typeName = filledText(100).refine(
  (name) => !name.slice(0, -1).includes('*') && name !== '*',
  failing('type_name'),
);

const patternText = z.string().max(maxPatternLength, { abort: true });
const textPattern = patternText.superRefine((source, context) => {
  const problem = problemOfPattern(source);
  if (problem !== null) refuse(context, [], problem);
});

export const ruleCondition = z.strictObject({
  isCredit: z.boolean().optional(),
  types: z.array(typeName).min(1).max(50).optional(),
  amount: amountRange.optional(),
  document: text(20)
    .refine((value) => normalizeTaxId(value) !== null, failing('tax_id'))
    .optional(),
  counterparty: z
    .strictObject({ ispb: filledText(20), branch: filledText(20), number: filledText(30) })
    .optional(),
  notes: z
    .strictObject({
      contains: filledText(100)
        .refine((part) => !isMeaningless(part), failing('part_of_all'))
        .optional(),
      matches: textPattern.min(1).optional(),
    })
    .refine(
      ({ contains, matches }) => contains !== undefined || matches !== undefined,
      'Must have contains or matches.',
    )
    .optional(),
});

/** No rule tolerates a larger difference, however large the payment. */
export const greatestTolerance = { cents: 100_000n, basisPoints: 1_000n };

const percent = reais.refine(
  (value) => value > 0n && value <= greatestTolerance.basisPoints,
  failing('more_than', { least: 0, most: 10 }),
);
const toleratedAmount = positiveReais.refine(
  (value) => value <= greatestTolerance.cents,
  failing('at_most', { most: '1000.00' }),
);
const tolerance = z
  .strictObject({
    amount: toleratedAmount.optional(),
    percent: percent.optional(),
    /** In reais; 1000.00 if not given. */
    max: toleratedAmount.optional(),
  })
  .refine(({ amount, max }) => amount === undefined || max === undefined || amount <= max, {
    path: ['max'],
    ...failing('less_than_field', { field: 'amount' }),
  });

/** Instalments do not share days, so that the day of a line determines its instalment. */
export const instalmentPlan = z
  .strictObject({
    count: integerBetween(2, 60),
    intervalDays: integerBetween(2, 92).optional(),
    monthly: z.literal(true).optional(),
    toleranceDays: integerBetween(0, 31).default(0),
  })
  .superRefine(({ intervalDays, monthly, toleranceDays }, context) => {
    if ((intervalDays === undefined) === (monthly === undefined))
      refuse(context, [], 'Must have either intervalDays or monthly.');
    const most = Math.floor(((intervalDays ?? 28) - 1) / 2);
    if (toleranceDays > most)
      refuse(context, ['toleranceDays'], fieldError('shared_days', { most }));
  });

const maxSettlementDays = 31;

const bounds = (cents: bigint, most: string) => {
  const amount = reais.refine(
    (value) => value >= 0n && value <= cents,
    failing('between', { least: 0, most }),
  );
  return z
    .strictObject({ min: amount.optional(), max: amount })
    .refine(({ min, max }) => min === undefined || min <= max, {
      path: ['max'],
      ...failing('less_than_field', { field: 'min' }),
    });
};

const netSettlement = z.strictObject({
  groupBy: z.enum(salesGroups),
  fee: z
    .strictObject({
      percent: bounds(2_000n, '20').optional(),
      perSale: bounds(10_000n, '100.00').optional(),
    })
    .refine(
      ({ percent, perSale }) => percent !== undefined || perSale !== undefined,
      failing('fee_bounds'),
    ),
});

const matchAction = z
  .strictObject({
    by: z
      .array(z.enum(criteria))
      .max(criteria.length)
      .refine((by) => new Set(by).size === by.length, 'Must have each criterion at most once.')
      .refine((by) => by.includes('document') || by.includes('notes'), failing('needs_identity'))
      .refine(
        (by) => by.includes('amount') || by.includes('window'),
        failing('needs_amount_or_window'),
      ),
    tolerance: tolerance.optional(),
    window: z
      .strictObject({ daysBefore: integerBetween(0, 366), daysAfter: integerBetween(0, 366) })
      .optional(),
    combines: z.boolean().default(false),
    instalments: z
      .union([z.boolean(), instalmentPlan], 'Must be true, false or a plan.')
      .default(false),
    netSettlement: netSettlement.optional(),
  })
  .superRefine((match, context) => {
    const refuseAt = (path: string, error: FieldError) => refuse(context, [path], error);
    const [byAmount, byWindow] = [match.by.includes('amount'), match.by.includes('window')];
    if (byWindow && !match.window) refuseAt('window', fieldError('window_needed'));
    if (!byWindow && match.window) refuseAt('window', 'Is allowed only if by contains window.');
    for (const name of ['tolerance', 'combines', 'instalments', 'netSettlement'] as const)
      if (match[name] && !byAmount) refuseAt(name, fieldError('only_by_amount'));
    if (match.combines && match.instalments)
      refuseAt('instalments', 'Must not be given together with combines.');
    if (match.combines && !match.by.includes('document'))
      refuseAt('combines', fieldError('only_by_document'));
    if (match.netSettlement) refuseAroundNetSettlement(match, refuseAt);
  });

/** A group of sales needs what determines it, and its fee is the only difference. */
function refuseAroundNetSettlement(
  {
    by,
    netSettlement,
    ...others
  }: {
    by: readonly Criterion[];
    netSettlement?: { groupBy: SalesGroup };
    tolerance?: unknown;
    combines: boolean;
    instalments: unknown;
    window?: { daysBefore: number; daysAfter: number };
  },
  refuseAt: (path: string, error: FieldError) => void,
): void {
  for (const name of ['tolerance', 'combines', 'instalments'] as const)
    if (others[name]) refuseAt(name, 'Must not be given together with netSettlement.');
  const { window } = others;
  if (netSettlement?.groupBy === 'notes') {
    if (!by.includes('notes')) refuseAt('by', fieldError('group_by_notes'));
    return;
  }
  if (!by.includes('document') || !by.includes('window'))
    refuseAt('by', fieldError('group_by_day'));
  if (window && window.daysBefore + window.daysAfter > maxSettlementDays)
    refuseAt('window', fieldError('settlement_days', { most: maxSettlementDays }));
}

export const ruleAction = z
  .strictObject({
    classify: z.enum(declaredCategories).optional(),
    /** Why such lines need no match. */
    reason: filledText(300).optional(),
    match: matchAction.optional(),
    /** Stands above what the matched payments say. */
    coding: codingBody.optional(),
  })
  .superRefine(({ classify, reason, match }, context) => {
    if ((classify === undefined) === (match === undefined))
      refuse(context, [], 'Must have either classify or match.');
    if (classify !== undefined && reason === undefined)
      refuse(context, ['reason'], fieldError('required'));
    if (match !== undefined && reason !== undefined)
      refuse(context, ['reason'], 'Is allowed with classify only.');
  });

/** Lowest first; among equals the older rule first. */
export const rulePriority = integerBetween(0, 100_000);

const definitionFields = {
  priority: rulePriority,
  when: ruleCondition.default({}),
  then: ruleAction,
  /** Why the version is declared. */
  reason: filledText(300),
};
/**
 * A classification needs a condition that says something, and nearly every line has an amount of a
 * wide range; a match rule may cover every line, since it has criteria.
 */
function hasCondition({
  when: { amount, ...others },
  then,
}: {
  when: z.output<typeof ruleCondition>;
  then: { classify?: unknown };
}): boolean {
  const { min = null, max = null } = amount ?? {};
  const isAmountMeant = amount !== undefined && !isWideRange(min, max);
  return then.classify === undefined || isAmountMeant || Object.keys(others).length > 0;
}
const missingCondition = {
  path: ['when'],
  ...failing('needs_condition'),
};

export type RuleDefinition = z.output<typeof versionBody>;
const versionBody = z.strictObject(definitionFields).refine(hasCondition, missingCondition);

const base = { chapter: 'Rules', authentication: 'api-key' } as const;
const changes = { ...base, method: 'POST', idempotencyKey: 'accepted' } as const;
const byId = z.object({ id: text(100) });
const byVersion = z.object({ id: text(100), version: text(10) });
const reasonBody = z.strictObject({ reason: filledText(300) });

const nsuSample = z.object({ count: integer, nsus: z.array(bigInteger) });

export const trialView = z.object({
  id: z.string(),
  version: integer,
  from: instant,
  until: instant,
  createdAt: instant,
  lines: integer.describe('Lines of the period.'),
  matchedMore: nsuSample,
  classifiedMore: nsuSample,
  /** Lines that rules decide now, and of which this version would make something else. */
  changed: nsuSample,
  /** Lines that rules decide now and this version would not. */
  less: nsuSample,
  ambiguous: nsuSample,
  /**
   * Lines matched by reference or manually that the rule would match otherwise; they do not
   * change.
   */
  conflicts: nsuSample,
  /** The sum of the differences within the tolerance. */
  tolerated: z.object({ count: integer, amount: reais }),
  /** The sales that net settlements would match, with the sum of their fees. */
  fees: z.object({ count: integer, amount: reais }),
});

const listedVersion = z.object({
  version: integer,
  state: z.enum(['draft', 'active', 'retired']),
  priority: integer,
  /** With masked tax ids and account numbers. */
  when: passedOn(ruleCondition),
  then: passedOn(ruleAction),
  reason: z.string().nullable(),
  madeBy: z.string().nullable(),
  createdAt: instant,
  activatedAt: instant.nullable(),
  retiredAt: instant.nullable(),
});

/** A rule with its terms, as a list shows it. */
export const listedRule = z.object({
  id: z.string(),
  name: z.string(),
  origin: z.string().describe('`default`, or `api`.'),
  createdAt: instant,
  activeVersion: integer.nullable(),
  /** At most 50: the active one, then the newest drafts. In the order of their numbers. */
  versions: z.array(listedVersion),
});

const versionView = listedVersion.extend({
  trials: z.array(trialView).describe('Newest first.'),
  /** The steps of the version, oldest first. */
  steps: z.array(
    z.object({
      action: z.string(),
      actor: z.string().nullable(),
      reason: z.string().nullable(),
      at: instant,
    }),
  ),
});

/** One rule, with the newest 100 trials and the newest 200 steps of its versions. */
export const ruleView = listedRule.extend({
  /** At most 50: the active one, then the newest drafts, then the newest retired ones. */
  versions: z.array(versionView),
});
export type RuleView = z.output<typeof ruleView>;

export const ruleDeclaration = z
  .strictObject({ name: filledText(100), ...definitionFields })
  .refine(hasCondition, missingCondition);

export const createRule = route({
  ...changes,
  name: 'createRule',
  summary: 'Declares a rule; its first version is a draft that needs a trial before activation.',
  path: '/v1/rules',
  successStatus: 201,
  body: ruleDeclaration,
  response: ruleView,
});

export const createRuleVersion = route({
  ...changes,
  name: 'createRuleVersion',
  summary: 'Declares another version of a rule as a draft.',
  path: '/v1/rules/{id}/versions',
  successStatus: 201,
  params: byId,
  body: versionBody,
  response: ruleView,
});

export const listRules = route({
  ...base,
  name: 'listRules',
  summary: 'Lists the account’s rules with their active and draft versions, newest first.',
  method: 'GET',
  path: '/v1/rules',
  query: listQuery({}),
  response: listOf(listedRule),
});

export const getRule = route({
  ...base,
  name: 'getRule',
  summary: 'Returns one rule with its newest versions, trials and steps.',
  method: 'GET',
  path: '/v1/rules/{id}',
  params: byId,
  response: ruleView,
});

export const tryRuleVersion = route({
  ...changes,
  name: 'tryRuleVersion',
  summary: 'Tries a version over history and returns what it would decide; changes nothing.',
  path: '/v1/rules/{id}/versions/{version}/trial',
  params: byVersion,
  body: z
    .strictObject({
      /** Days in São Paulo, inclusive; the last 90 days by default. */
      from: plainDate.optional(),
      to: plainDate.optional(),
    })
    .default({}),
  response: trialView,
});

export const activateRuleVersion = route({
  ...changes,
  name: 'activateRuleVersion',
  summary: 'Activates a tried version in place of the active one.',
  path: '/v1/rules/{id}/versions/{version}/activate',
  params: byVersion,
  body: reasonBody,
  response: ruleView,
});

export const retireRuleVersion = route({
  ...changes,
  name: 'retireRuleVersion',
  summary: 'Retires a version; lines in open periods are decided again without it.',
  path: '/v1/rules/{id}/versions/{version}/retire',
  params: byVersion,
  body: reasonBody,
  response: ruleView,
});

nameSchemas({
  RuleCondition: ruleCondition,
  NsuSample: nsuSample,
  RuleTrial: trialView,
  ListedRuleVersion: listedVersion,
  ListedRule: listedRule,
  RuleVersion: versionView,
  Rule: ruleView,
});
