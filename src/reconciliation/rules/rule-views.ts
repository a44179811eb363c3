// Converts rules between the API and the stored form. Documents and account numbers are stored
// unmasked, since lines are compared with them, and shown masked. Pure.
import { z } from 'zod';
import { maskTaxId, normalizeTaxId, parseTaxId } from '../../brazil/tax-id.js';
import { reais } from '../../bank-contract/wire.js';
import { maskValue } from '../../access/counterparties/masking.js';
import type {
  Rule,
  RuleHistoryEntry,
  RuleTrial,
  RuleVersion,
} from '../../generated/service/client.js';
import { toCoding } from '../../statement/expected-payments/coding.js';
import { groupBy } from '../../platform/grouping.js';
import type { InstalmentPlan, NetSettlement, RuleAction, RuleCondition } from '../decide/rule.js';
import {
  greatestTolerance,
  type listedRule,
  type RuleDefinition,
  type ruleView,
  type trialView,
} from './rules.schema.js';
import { readStored } from '../load/stored-rule.js';
import { storedResult } from './trial-result.js';

export function describeRule(
  rule: Rule,
  versions: readonly RuleVersion[],
): z.output<typeof listedRule> {
  return {
    ...rule,
    activeVersion: versions.find(({ state }) => state === 'active')?.version ?? null,
    versions: versions.map((version) => {
      const { when, then } = readStored(version);
      return { ...version, when: describeCondition(when), then: describeAction(then) };
    }),
  };
}

/** `trials` and `steps` are those of all versions, in the order in which they are shown. */
export function describeRuleWithHistory(
  rule: z.output<typeof listedRule>,
  trials: readonly ShownTrial[],
  steps: readonly RuleHistoryEntry[],
): z.output<typeof ruleView> {
  const trialsOf = groupBy(trials, ({ version }) => version);
  const stepsOf = groupBy(steps, ({ version }) => version);
  return {
    ...rule,
    versions: rule.versions.map((one) => ({
      ...one,
      trials: (trialsOf.get(one.version) ?? []).map(describeTrial),
      steps: (stepsOf.get(one.version) ?? []).map(({ createdAt: at, ...step }) => ({
        ...step,
        at,
      })),
    })),
  };
}

/** A trial is listed without the outcomes of single lines. */
type ShownTrial = Omit<RuleTrial, 'changes'>;

export function describeTrial({ result, ...trial }: ShownTrial): z.output<typeof trialView> {
  const { tolerated, fees, ...samples } = storedResult.parse(result);
  const inView = ({ count, cents: amount }: { count: number; cents: bigint }) => ({
    count,
    amount,
  });
  return { ...trial, ...samples, tolerated: inView(tolerated), fees: inView(fees) };
}

export function toCondition({ amount, document, notes, ...others }: RuleDefinition['when']) {
  const plain = normalizeTaxId(document);
  const condition = {
    ...others,
    minCents: amount?.min,
    maxCents: amount?.max,
    document: plain ?? undefined,
    notes: notes?.contains,
    notesPattern: notes?.matches,
  };
  const entries = Object.entries(condition).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as RuleCondition;
}

export function toAction({
  classify,
  reason,
  match,
  coding: given,
}: RuleDefinition['then']): RuleAction {
  const coding = given ? { coding: toCoding(given) } : {};
  if (classify !== undefined) return { do: 'classify', classify, reason: reason ?? '', ...coding };
  const { by = [], tolerance, window = null, combines = false } = match ?? {};
  const { instalments = false, netSettlement } = match ?? {};
  return {
    do: 'match',
    by,
    toleranceCents: tolerance?.amount ?? 0n,
    toleranceBasisPoints: tolerance?.percent ?? 0n,
    toleranceMaxCents: tolerance?.max ?? greatestTolerance.cents,
    window,
    combines,
    instalments: instalments === true,
    ...(typeof instalments === 'boolean' ? {} : { plan: toPlan(instalments) }),
    ...(netSettlement ? { netSettlement: toNetSettlement(netSettlement) } : {}),
    ...coding,
  };
}

type DeclaredMatch = NonNullable<RuleDefinition['then']['match']>;
type DeclaredPlan = Exclude<DeclaredMatch['instalments'], boolean>;
type DeclaredNetSettlement = NonNullable<DeclaredMatch['netSettlement']>;

function toPlan({ count, intervalDays, toleranceDays }: DeclaredPlan): InstalmentPlan {
  return { count, intervalDays: intervalDays ?? null, toleranceDays };
}

function describePlan({ count, intervalDays, toleranceDays }: InstalmentPlan) {
  const interval = intervalDays === null ? { monthly: true } : { intervalDays };
  return { count, ...interval, toleranceDays };
}

function toNetSettlement({ groupBy, fee }: DeclaredNetSettlement): NetSettlement {
  return {
    groupBy,
    minFeeBasisPoints: fee.percent?.min ?? 0n,
    maxFeeBasisPoints: fee.percent?.max ?? 0n,
    minFeeCentsPerSale: fee.perSale?.min ?? 0n,
    maxFeeCentsPerSale: fee.perSale?.max ?? 0n,
  };
}

function describeNetSettlement({ groupBy, ...bounds }: NetSettlement) {
  const percent = {
    ...inReais('min', bounds.minFeeBasisPoints),
    ...inReais('max', bounds.maxFeeBasisPoints),
  };
  const perSale = {
    ...inReais('min', bounds.minFeeCentsPerSale),
    ...inReais('max', bounds.maxFeeCentsPerSale),
  };
  return { groupBy, fee: { percent, perSale } };
}

/** The given conditions only, with amounts in reais. */
export function describeCondition(when: RuleCondition) {
  const { minCents, maxCents, document, counterparty, notes, notesPattern, ...others } = when;
  const hasAmount = minCents !== undefined || maxCents !== undefined;
  return {
    ...others,
    ...(hasAmount ? { amount: { ...inReais('min', minCents), ...inReais('max', maxCents) } } : {}),
    ...(document === undefined ? {} : { document: masked(document) }),
    ...(counterparty === undefined
      ? {}
      : { counterparty: { ...counterparty, number: maskValue('account', counterparty.number) } }),
    ...(notes === undefined && notesPattern === undefined
      ? {}
      : { notes: { ...given('contains', notes), ...given('matches', notesPattern) } }),
  };
}

export function describeAction(then: RuleAction) {
  const coding = then.coding ? { coding: then.coding } : {};
  if (then.do === 'classify') return { classify: then.classify, reason: then.reason, ...coding };
  const { by, toleranceCents, toleranceBasisPoints, toleranceMaxCents } = then;
  const { window, combines, instalments, plan, netSettlement } = then;
  const differences = {
    ...inReais('amount', toleranceCents || undefined),
    ...inReais('percent', toleranceBasisPoints || undefined),
  };
  const hasTolerance = Object.keys(differences).length > 0;
  const tolerance = { ...differences, ...inReais('max', toleranceMaxCents) };
  return {
    match: {
      by,
      ...(hasTolerance ? { tolerance } : {}),
      ...(window ? { window } : {}),
      combines,
      instalments: plan ? describePlan(plan) : instalments,
      ...(netSettlement ? { netSettlement: describeNetSettlement(netSettlement) } : {}),
    },
    ...coding,
  };
}

function given(name: string, value: string | undefined) {
  return value === undefined ? {} : { [name]: value };
}

function inReais(name: string, cents: bigint | undefined) {
  return cents === undefined ? {} : { [name]: z.encode(reais, cents) };
}

function masked(document: string): string {
  const taxId = parseTaxId(document);
  return taxId ? maskTaxId(taxId) : '***';
}
