// The account's own rules as business systems declare, try and read them.
import { z } from 'zod';
import { route } from '../../contract/route.js';
import {
  bigInteger,
  filledText,
  integer,
  plainDate,
  positiveReais,
  reais,
  text,
  timestamp,
} from '../../contract/wire.js';
import { normalizeTaxId } from '../../expected-payments/counterparty.js';
import { listOf, listQuery } from '../../platform/listing.js';
import { criteria, declaredCategories } from './rule.js';

const whole = (least: number, most: number) =>
  integer.refine((value) => value >= least && value <= most, `Must be from ${least} to ${most}.`);

const amountRange = z
  .strictObject({ min: positiveReais.optional(), max: positiveReais.optional() })
  .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
    path: ['max'],
    message: 'Must not be less than min.',
  });

const typeName = filledText(100).refine(
  (name) => !name.slice(0, -1).includes('*') && name !== '*',
  'Must be a type’s name, or its beginning followed by *.',
);

export const ruleCondition = z.strictObject({
  isCredit: z.boolean('Must be true or false.').optional(),
  types: z.array(typeName).min(1, 'Must name a type.').max(50).optional(),
  amount: amountRange.optional(),
  document: text(20)
    .refine((value) => normalizeTaxId(value) !== null, 'Must be a CPF or CNPJ.')
    .optional(),
  counterparty: z
    .strictObject({ ispb: filledText(20), branch: filledText(20), number: filledText(30) })
    .optional(),
  notes: z.strictObject({ contains: filledText(100) }).optional(),
});

const percent = reais.refine(
  (value) => value > 0n && value <= 10_000n,
  'Must be more than 0 and at most 100.',
);

const matchAction = z
  .strictObject({
    by: z
      .array(z.enum(criteria, `Must be one of ${criteria.join(', ')}.`))
      .refine((by) => new Set(by).size === by.length, 'Must not name one twice.')
      .refine(
        (by) => by.includes('document') || by.includes('notes'),
        'Must have document or notes: an amount alone names nobody.',
      )
      .refine(
        (by) => by.includes('amount') || by.includes('window'),
        'Must have amount or window.',
      ),
    tolerance: z
      .strictObject({ amount: positiveReais.optional(), percent: percent.optional() })
      .optional(),
    window: z.strictObject({ daysBefore: whole(0, 366), daysAfter: whole(0, 366) }).optional(),
    combines: z.boolean('Must be true or false.').default(false),
    instalments: z.boolean('Must be true or false.').default(false),
  })
  .superRefine((match, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const [byAmount, byWindow] = [match.by.includes('amount'), match.by.includes('window')];
    if (byWindow && !match.window) refuse('window', 'Must be said where by names it.');
    if (!byWindow && match.window) refuse('window', 'Must not be said where by does not name it.');
    for (const name of ['tolerance', 'combines', 'instalments'] as const)
      if (match[name] && !byAmount) refuse(name, 'Needs by to name amount.');
    if (match.combines && match.instalments)
      refuse('instalments', 'Must not be said together with combines.');
    if (match.combines && !match.by.includes('document'))
      refuse('combines', 'Needs by to name document.');
  });

const ruleAction = z
  .strictObject({
    classify: z
      .enum(declaredCategories, `Must be one of ${declaredCategories.join(', ')}.`)
      .optional(),
    /** Why such lines need no match. */
    reason: filledText(300).optional(),
    match: matchAction.optional(),
  })
  .superRefine(({ classify, reason, match }, context) => {
    const refuse = (path: string[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    if ((classify === undefined) === (match === undefined))
      refuse([], 'Must have either classify or match.');
    if (classify !== undefined && reason === undefined)
      refuse(['reason'], 'The field is required.');
    if (match !== undefined && reason !== undefined)
      refuse(['reason'], 'Goes with classify alone.');
  });

const definitionFields = {
  /** The lower the sooner; of the same, the rule that was declared first. */
  priority: whole(0, 100_000),
  when: ruleCondition.default({}),
  then: ruleAction,
  /** Why the rule is declared so. */
  reason: filledText(300),
};
/** Only a match rule may be about every line: it asks for more. */
function saysWhich({ when, then }: { when: object; then: { classify?: unknown } }): boolean {
  return then.classify === undefined || Object.keys(when).length > 0;
}
const unsaid = { path: ['when'], message: 'Must say which lines are classified.' };

export type RuleDefinition = z.output<typeof versionBody>;
const versionBody = z.strictObject(definitionFields).refine(saysWhich, unsaid);

const base = { chapter: 'Rules', authentication: 'api-key' } as const;
const changes = { ...base, method: 'POST', idempotencyKey: 'accepted' } as const;
const byId = z.object({ id: text(100) });
const byVersion = z.object({ id: text(100), version: text(10) });
const reasonBody = z.strictObject({ reason: filledText(300) });

const nsuSample = z.object({ count: integer, nsus: z.array(bigInteger) });

export const trialView = z.object({
  id: z.string(),
  version: integer,
  from: timestamp,
  until: timestamp,
  createdAt: timestamp,
  /** Lines that were looked at. */
  lines: integer,
  matchedMore: nsuSample,
  classifiedMore: nsuSample,
  /** What the rule explains as the book stands, and would not any more. */
  less: nsuSample,
  ambiguous: nsuSample,
  /** Lines explained by ids or a person that the rule would see otherwise: they stay as they are. */
  conflicts: nsuSample,
  /** Of what it would match: the sum of the differences that it tolerates. */
  tolerated: z.object({ count: integer, amount: reais }),
});
export type TrialView = z.output<typeof trialView>;

const versionView = z.object({
  version: integer,
  state: z.enum(['draft', 'active', 'retired']),
  priority: integer,
  when: z.unknown(),
  then: z.unknown(),
  reason: z.string().nullable(),
  madeBy: z.string().nullable(),
  createdAt: timestamp,
  activatedAt: timestamp.nullable(),
  retiredAt: timestamp.nullable(),
  trials: z.array(trialView),
  /** What was done with it, by whom and why, in order. */
  steps: z.array(
    z.object({
      action: z.string(),
      actor: z.string().nullable(),
      reason: z.string().nullable(),
      at: timestamp,
    }),
  ),
});

export const ruleView = z.object({
  id: z.string(),
  name: z.string(),
  /** `default`, or `api`. */
  origin: z.string(),
  createdAt: timestamp,
  activeVersion: integer.nullable(),
  versions: z.array(versionView),
});

export const createRule = route({
  ...changes,
  name: 'createRule',
  summary: 'Declares a rule: its first version is a draft, which is tried before it is activated.',
  path: '/v1/rules',
  successStatus: 201,
  body: z.strictObject({ name: filledText(100), ...definitionFields }).refine(saysWhich, unsaid),
  response: ruleView,
});

export const createRuleVersion = route({
  ...changes,
  name: 'createRuleVersion',
  summary: 'Declares another version of a rule, as a draft.',
  path: '/v1/rules/{id}/versions',
  successStatus: 201,
  params: byId,
  body: versionBody,
  response: ruleView,
});

export const listRules = route({
  ...base,
  name: 'listRules',
  summary: 'The account’s rules with their versions, newest first.',
  method: 'GET',
  path: '/v1/rules',
  query: listQuery({}),
  response: listOf(ruleView),
});

export const getRule = route({
  ...base,
  name: 'getRule',
  summary: 'One rule: what its versions say, and what came of trying them.',
  method: 'GET',
  path: '/v1/rules/{id}',
  params: byId,
  response: ruleView,
});

export const tryRuleVersion = route({
  ...changes,
  name: 'tryRuleVersion',
  summary: 'What a version would do over history; nothing in the book changes.',
  path: '/v1/rules/{id}/versions/{version}/trial',
  params: byVersion,
  body: z
    .strictObject({
      /** Days in São Paulo, both within; the last 90 where they are left out. */
      from: plainDate.optional(),
      to: plainDate.optional(),
    })
    .default({}),
  response: trialView,
});

export const activateRuleVersion = route({
  ...changes,
  name: 'activateRuleVersion',
  summary: 'Activates a version that was tried, in place of the active one.',
  path: '/v1/rules/{id}/versions/{version}/activate',
  params: byVersion,
  body: reasonBody,
  response: ruleView,
});

export const retireRuleVersion = route({
  ...changes,
  name: 'retireRuleVersion',
  summary: 'Retires a version: it explains nothing more.',
  path: '/v1/rules/{id}/versions/{version}/retire',
  params: byVersion,
  body: reasonBody,
  response: ruleView,
});
