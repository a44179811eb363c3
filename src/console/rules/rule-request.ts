// Turns the form of a rule into the request that the API would get, decodes it by the same schema,
// and finds the field of the form to which an error belongs.
import { fieldError, type FieldError, type FieldErrors } from '../../bank-contract/field-errors.js';
import { refuseInvalid } from '../../platform/errors.js';
import { decode } from '../../platform/http/contract-route.js';
import type { RouteInput } from '../../bank-contract/route.js';
import type { createRule } from '../../reconciliation/rules/rules.schema.js';
import {
  instalmentPlan,
  ruleAction,
  ruleCondition,
  ruleDeclaration,
} from '../../reconciliation/rules/rules.schema.js';
import { toAction, toCondition } from '../../reconciliation/rules/rule-views.js';
import type { RuleAction, RuleCondition } from '../../reconciliation/decide/rule.js';
import { typedNumber } from '../typed-amount.js';
import type { ConditionKind, RuleForm } from './rule-form.js';

type RuleRequest = RouteInput<typeof createRule>['body'];

/** Throws `validation_failed`, by the names of fields; of a row, `condition.<index>`. */
export function requestOf(form: RuleForm): RuleRequest {
  const issues: FieldErrors = {};
  const body = decode(ruleDeclaration, jsonOf(form), issues);
  addPlanIssues(form, issues);
  const errors = errorsByField(form, issues);
  for (const [index, error] of errorsOfRows(form)) errors[`condition.${index}`] = [error];
  refuseInvalid(errors);
  return body as RuleRequest;
}

/** A value that is neither true, false nor a plan has one error of its own: the plan's say more. */
function addPlanIssues(form: RuleForm, issues: FieldErrors): void {
  const path = '$.then.match.instalments';
  if (form.action !== 'match' || form.parts !== 'plan' || !(path in issues)) return;
  const ofPlan: FieldErrors = {};
  decode(instalmentPlan, planOf(form), ofPlan);
  delete issues[path];
  for (const [own, errors] of Object.entries(ofPlan)) issues[own.replace('$', path)] = errors;
}

/** What the request cannot show: rows that are not complete, and a kind that stands there twice. */
function* errorsOfRows({ conditions }: RuleForm): Generator<readonly [number, FieldError]> {
  const seen = new Set<string>();
  for (const [index, { kind, value }] of conditions.entries()) {
    if (kind === '' && value === '') continue;
    const slot = kind === 'debit' ? 'credit' : kind;
    const isRepeated = slot !== 'type' && slot !== 'typePrefix' && seen.has(slot);
    seen.add(slot);
    if (isRepeated) yield [index, fieldError('once')];
    else if (kind === '' || (value === '' && slot !== 'credit'))
      yield [index, fieldError('required')];
  }
}

/** What of the form can be said in words; null for a part that is not complete or not right. */
export function termsSoFar(form: RuleForm): {
  when: RuleCondition | null;
  then: RuleAction | null;
} {
  const { when, then } = jsonOf(form);
  const condition = ruleCondition.safeDecode(when as never);
  const action = ruleAction.safeDecode(then as never);
  return {
    when: condition.success ? toCondition(condition.data) : null,
    then: action.success ? toAction(action.data) : null,
  };
}

function jsonOf(form: RuleForm) {
  const { name, priority, reason } = form.fields;
  return {
    ...given({ name, reason, priority: typedNumber(priority) }),
    when: conditionOf(form),
    then: {
      ...(form.action === 'classify' ? classifyOf(form) : { match: matchOf(form) }),
      ...given({ coding: filled(codingOfForm(form)) }),
    },
  };
}

function conditionOf({ conditions }: RuleForm): object {
  const valueOf = (kind: ConditionKind) => conditions.find((row) => row.kind === kind)?.value;
  const types = conditions.flatMap(({ kind, value }) =>
    kind === 'type' ? value : kind === 'typePrefix' ? `${value}*` : [],
  );
  const direction = conditions.find(({ kind }) => kind === 'credit' || kind === 'debit')?.kind;
  const amount = given({
    min: typedNumber(valueOf('amountFrom')),
    max: typedNumber(valueOf('amountTo')),
  });
  const notes = given({ contains: valueOf('notesContain'), matches: valueOf('notesMatch') });
  return given({
    isCredit: direction === undefined ? undefined : direction === 'credit',
    types: types.length > 0 ? types : undefined,
    amount: filled(amount),
    document: valueOf('document'),
    counterparty: accountOf(valueOf('account')),
    notes: filled(notes),
  });
}

/** `60746948/0001/12345-6`. */
function accountOf(text: string | undefined): object | undefined {
  if (text === undefined) return undefined;
  const [ispb = '', branch = '', ...number] = text.split('/').map((part) => part.trim());
  return { ispb, branch, number: number.join('/') };
}

function classifyOf({ fields: { category, categoryReason } }: RuleForm): object {
  return given({ classify: category, reason: categoryReason });
}

function codingOfForm({ fields: { codingCategory: category, costCentre, project } }: RuleForm) {
  return given({ category, costCentre, project });
}

function matchOf(form: RuleForm): object {
  const { by, parts, fields } = form;
  const tolerance = given({
    amount: typedNumber(fields.toleranceAmount),
    percent: typedNumber(fields.tolerancePercent),
    max: typedNumber(fields.toleranceMax),
  });
  const window = given({
    daysBefore: typedNumber(fields.daysBefore),
    daysAfter: typedNumber(fields.daysAfter),
  });
  return given({
    by,
    tolerance: parts === 'netSettlement' ? undefined : filled(tolerance),
    window: by.includes('window') ? window : undefined,
    combines: parts === 'combines' ? true : undefined,
    instalments: parts === 'instalments' ? true : parts === 'plan' ? planOf(form) : undefined,
    netSettlement: parts === 'netSettlement' ? netSettlementOf(form) : undefined,
  });
}

/** Without an interval, instalments are monthly. */
function planOf({ fields: { planCount, planInterval, planToleranceDays } }: RuleForm): object {
  const interval =
    planInterval === '' ? { monthly: true } : { intervalDays: typedNumber(planInterval) };
  return given({
    count: typedNumber(planCount),
    ...interval,
    toleranceDays: typedNumber(planToleranceDays),
  });
}

function netSettlementOf({ fields }: RuleForm): object {
  const bounds = (min: string, max: string) =>
    filled(given({ min: typedNumber(min), max: typedNumber(max) }));
  const fee = given({
    percent: bounds(fields.feePercentMin, fields.feePercentMax),
    perSale: bounds(fields.feePerSaleMin, fields.feePerSaleMax),
  });
  return { groupBy: fields.groupBy, fee };
}

/** Empty fields are absent, as the API expects. */
function given(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  );
}

function filled(values: Record<string, unknown>): Record<string, unknown> | undefined {
  return Object.keys(values).length === 0 ? undefined : values;
}

/** The field of each path of the request; the first that a path begins with has its error. */
const fieldsOfPaths: readonly (readonly [string, string])[] = [
  ['$.name', 'name'],
  ['$.priority', 'priority'],
  ['$.reason', 'reason'],
  ['$.then.reason', 'categoryReason'],
  ['$.then.classify', 'category'],
  ['$.then.match.by', 'by'],
  ['$.then.match.tolerance.amount', 'toleranceAmount'],
  ['$.then.match.tolerance.percent', 'tolerancePercent'],
  ['$.then.match.tolerance.max', 'toleranceMax'],
  ['$.then.match.tolerance', 'toleranceAmount'],
  ['$.then.match.window.daysAfter', 'daysAfter'],
  ['$.then.match.window', 'daysBefore'],
  ['$.then.match.instalments.count', 'planCount'],
  ['$.then.match.instalments.intervalDays', 'planInterval'],
  ['$.then.match.instalments.toleranceDays', 'planToleranceDays'],
  ['$.then.match.netSettlement.groupBy', 'groupBy'],
  ['$.then.match.netSettlement.fee.percent.min', 'feePercentMin'],
  ['$.then.match.netSettlement.fee.percent', 'feePercentMax'],
  ['$.then.match.netSettlement.fee.perSale.min', 'feePerSaleMin'],
  ['$.then.match.netSettlement.fee.perSale', 'feePerSaleMax'],
  ['$.then.match.netSettlement', 'feePercentMax'],
  ['$.then.coding.costCentre', 'costCentre'],
  ['$.then.coding.project', 'project'],
  ['$.then.coding', 'codingCategory'],
  ['$.then.match', 'parts'],
  ['$.then', 'action'],
];

const rowsOfPaths: readonly (readonly [string, ConditionKind])[] = [
  ['$.when.amount.min', 'amountFrom'],
  ['$.when.amount', 'amountTo'],
  ['$.when.document', 'document'],
  ['$.when.counterparty', 'account'],
  ['$.when.notes.matches', 'notesMatch'],
  ['$.when.notes', 'notesContain'],
];

function errorsByField(form: RuleForm, issues: FieldErrors): FieldErrors {
  const errors: FieldErrors = {};
  for (const [path, error] of Object.entries(issues)) errors[fieldOf(form, path)] ??= error;
  return errors;
}

function fieldOf({ conditions }: RuleForm, path: string): string {
  const type = /^\$\.when\.types\[(\d+)\]/.exec(path);
  const rowOf = (isRow: (kind: string) => boolean, nth = 0) => {
    const rows = [...conditions.keys()].filter((index) => isRow(conditions[index]?.kind ?? ''));
    return `condition.${rows[nth] ?? 0}`;
  };
  if (type) return rowOf((kind) => kind === 'type' || kind === 'typePrefix', Number(type[1]));
  const row = rowsOfPaths.find(([start]) => path.startsWith(start));
  if (row) return rowOf((kind) => kind === row[1]);
  if (path.startsWith('$.when')) return 'conditions';
  return fieldsOfPaths.find(([start]) => path.startsWith(start))?.[1] ?? 'action';
}
