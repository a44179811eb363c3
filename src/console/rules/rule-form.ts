// The form of a rule's version: its fields as people type them, the request that the API would get
// for them, and where an error of that request stands in the form.
import type {
  CoveredLine,
  Criterion,
  MatchAction,
  RuleCondition,
} from '../../reconciliation/decide/rule.js';
import { criteria } from '../../reconciliation/decide/rule.js';
import type { Cents } from '../../brazil/cents.js';
import { writeTypedAmount } from '../typed-amount.js';
import type { RuleTerms } from '../../reconciliation/rules/rule-catalog.service.js';

/** What a row of the conditions is about, with its comparison. */
export const ruleConditionKinds = [
  'credit',
  'debit',
  'type',
  'typePrefix',
  'amountFrom',
  'amountTo',
  'document',
  'account',
  'notesContain',
  'notesMatch',
] as const;
export type ConditionKind = (typeof ruleConditionKinds)[number];
export interface ConditionRow {
  kind: ConditionKind | '';
  value: string;
}

/** How lines and expected payments are put together. */
export const partKinds = ['one', 'combines', 'instalments', 'plan', 'netSettlement'] as const;
export type PartKind = (typeof partKinds)[number];

/** The fields with one text each. */
export const plainFields = [
  'name',
  'priority',
  'category',
  'categoryReason',
  'toleranceAmount',
  'tolerancePercent',
  'toleranceMax',
  'daysBefore',
  'daysAfter',
  'planCount',
  'planInterval',
  'planToleranceDays',
  'groupBy',
  'feePercentMin',
  'feePercentMax',
  'feePerSaleMin',
  'feePerSaleMax',
  'codingCategory',
  'costCentre',
  'project',
  'reason',
] as const;
export type PlainField = (typeof plainFields)[number];

export interface RuleForm {
  conditions: ConditionRow[];
  action: 'classify' | 'match';
  by: Criterion[];
  parts: PartKind;
  fields: Record<PlainField, string>;
}

const maxRows = 60;
const maxTextLength = 1_000;

export const emptyForm: RuleForm = {
  conditions: [],
  action: 'classify',
  by: ['document', 'amount'],
  parts: 'one',
  fields: {
    ...(Object.fromEntries(plainFields.map((name) => [name, ''])) as RuleForm['fields']),
    priority: '100',
    category: 'fee',
    groupBy: 'day',
  },
};

export function readRuleForm(form: URLSearchParams): RuleForm {
  const typed = (name: string) => cleaned(form.get(name) ?? '');
  const [kinds, values] = [form.getAll('condition'), form.getAll('value')];
  const conditions = kinds.slice(0, maxRows).map((kind, index) => ({
    kind: ruleConditionKinds.find((one) => one === kind) ?? ('' as const),
    value: cleaned(values[index] ?? ''),
  }));
  return {
    conditions,
    action: form.get('action') === 'match' ? 'match' : 'classify',
    by: criteria.filter((one) => form.getAll('by').includes(one)),
    parts: partKinds.find((one) => one === form.get('parts')) ?? 'one',
    fields: Object.fromEntries(
      plainFields.map((name) => [name, typed(name)]),
    ) as RuleForm['fields'],
  };
}

/** Zero bytes and other control characters cannot be stored. */
function cleaned(text: string): string {
  return text
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxTextLength);
}

/** The terms of a version, to be changed into another one. */
export function formOfTerms({ priority, when, then }: RuleTerms, name: string): RuleForm {
  const { category: codingCategory = null, ...coding } = then.coding ?? {};
  const given = Object.entries({ ...coding, codingCategory }).filter(([, text]) => text !== null);
  const fields = {
    ...emptyForm.fields,
    ...(Object.fromEntries(given) as Partial<RuleForm['fields']>),
    ...{ name, priority: String(priority) },
  };
  const conditions = rowsOf(when);
  if (then.do === 'classify')
    return {
      ...emptyForm,
      conditions,
      fields: { ...fields, category: then.classify, categoryReason: then.reason },
    };
  return {
    conditions,
    action: 'match',
    by: [...then.by],
    parts: partsOf(then),
    fields: { ...fields, ...fieldsOfMatch(then) },
  };
}

/** A rule for lines like this one: its direction, type, counterparty and notes. */
export function formOfLine(line: CoveredLine): RuleForm {
  const [ispb, branch, number] = line.counterparty?.split('/') ?? [];
  const conditions: ConditionRow[] = [
    { kind: line.isCredit ? 'credit' : 'debit', value: '' },
    { kind: 'type', value: line.typeName },
  ];
  if (line.counterpartyDocument !== null)
    conditions.push({ kind: 'document', value: line.counterpartyDocument });
  else if (ispb && branch && number)
    conditions.push({ kind: 'account', value: `${ispb}/${branch}/${number}` });
  else if (line.notes !== null)
    conditions.push({ kind: 'notesContain', value: cleaned(line.notes).slice(0, 100) });
  return { ...emptyForm, conditions };
}

function rowsOf(when: RuleCondition): ConditionRow[] {
  const { isCredit, types = [], minCents, maxCents, document, counterparty } = when;
  const { notes, notesPattern } = when;
  const row = (kind: ConditionKind, value: string | undefined): ConditionRow[] =>
    value === undefined ? [] : [{ kind, value }];
  return [
    ...(isCredit === undefined ? [] : row(isCredit ? 'credit' : 'debit', '')),
    ...types.flatMap((type) =>
      type.endsWith('*') ? row('typePrefix', type.slice(0, -1)) : row('type', type),
    ),
    ...row('amountFrom', minCents === undefined ? undefined : writeTypedAmount(minCents)),
    ...row('amountTo', maxCents === undefined ? undefined : writeTypedAmount(maxCents)),
    ...row('document', document),
    ...row(
      'account',
      counterparty && [counterparty.ispb, counterparty.branch, counterparty.number].join('/'),
    ),
    ...row('notesContain', notes),
    ...row('notesMatch', notesPattern),
  ];
}

function partsOf({ combines, instalments, plan, netSettlement }: MatchAction): PartKind {
  if (netSettlement) return 'netSettlement';
  if (plan) return 'plan';
  if (instalments) return 'instalments';
  return combines ? 'combines' : 'one';
}

function fieldsOfMatch(action: MatchAction): Partial<RuleForm['fields']> {
  const { toleranceCents, toleranceBasisPoints, toleranceMaxCents } = action;
  const { window, plan, netSettlement } = action;
  const isTolerant = toleranceCents > 0n || toleranceBasisPoints > 0n;
  const typed = (cents: Cents | undefined) => (cents === undefined ? '' : writeTypedAmount(cents));
  return {
    toleranceAmount: typed(toleranceCents || undefined),
    tolerancePercent: typed(toleranceBasisPoints || undefined),
    toleranceMax: isTolerant ? typed(toleranceMaxCents) : '',
    ...(window
      ? { daysBefore: String(window.daysBefore), daysAfter: String(window.daysAfter) }
      : {}),
    ...(plan
      ? {
          planCount: String(plan.count),
          planInterval: plan.intervalDays === null ? '' : String(plan.intervalDays),
          planToleranceDays: String(plan.toleranceDays),
        }
      : {}),
    ...(netSettlement
      ? {
          groupBy: netSettlement.groupBy,
          feePercentMin: typed(netSettlement.minFeeBasisPoints),
          feePercentMax: typed(netSettlement.maxFeeBasisPoints),
          feePerSaleMin: typed(netSettlement.minFeeCentsPerSale),
          feePerSaleMax: typed(netSettlement.maxFeeCentsPerSale),
        }
      : {}),
  };
}
