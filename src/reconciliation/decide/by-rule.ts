// Applies the account's own rules to the lines that references leave unexplained. All competing
// lines and open expected payments are decided at once, so neither the order of arrival nor the
// size of a batch changes the result. A rule matches a pair only if neither the line nor the
// expected payment could be matched otherwise.
import { saoPauloDay } from '../../brazil/statement-day.js';
import { noteReferenceKinds } from '../../statement/expected-payments/references.js';
import { owedCentsWhenPaid } from '../../statement/expected-payments/settlement.js';
import { addTo, groupBy } from '../../platform/grouping.js';
import { maxBreakCandidates, type Component } from './component.js';
import type { ExpectedPaymentFacts, StatementLineFacts } from './model.js';
import {
  claimsOf,
  owedAfterClaims,
  uncontested,
  type InstalmentClaim,
  type InstalmentEvidence,
} from './instalments.js';
import {
  findSettledGroups,
  maxSalesOfLine,
  settledSales,
  type FeeEvidence,
} from './net-settlement.js';
import { debitsRefunding } from './refunds.js';
import {
  agrees,
  compareByTime,
  isOpen,
  ruleCandidateKind,
  byPriority,
  covers,
  lineGroupKey,
  paidBefore,
  stillOwed,
  toleranceOf,
  wasRefundedBefore,
  findPaymentOptions,
  findPossibleIds,
  someMatch,
  type AppliedRule,
  type RuleExpectedPayment,
  type RuleLine,
  type DeclaredCategory,
  type MatchAction,
} from './rule.js';

/** `contested`: expected payments that lines found ambiguous may pay. */
export function applyRules(component: Component, contested: ReadonlySet<string>): void {
  const { rules } = component.facts;
  const lines = component.lines.filter(({ nsu }) => component.isUnexpected(nsu));
  if (rules.length === 0 || lines.length === 0) return;
  const decisions = decideByRules(
    rules,
    lines.map((line) => toRuleLine(component, line)),
    someMatch(rules)
      ? payableByRules(component).filter((one) => !contested.has(one.expectedPaymentId))
      : [],
  );
  for (const line of lines) {
    const decision = decisions.get(line.nsu);
    if (decision) record(component, line, decision);
  }
}

/** The expected payments that lines may pay by rules. */
export function payableByRules(component: Component): RuleExpectedPayment[] {
  return (
    component.facts.expectedPayments
      .filter(({ withdrawal }) => withdrawal === null)
      // It was not sent, so no line is its payment.
      .filter(({ operationState }) => operationState !== 'awaiting_approval')
      .map((payment) => toRulePayment(component, payment))
      .filter(isOpen)
  );
}

function record(component: Component, line: StatementLineFacts, decision: RuleDecision): void {
  switch (decision.outcome) {
    case 'nothing':
      return;
    case 'classified': {
      const { category, reason, rule } = decision;
      component.unmatched.set(line.nsu, {
        ...{ outcome: 'classified', category, rule: 'declared', reason },
        ...{ evidence: evidenceOf(rule), declared: declaredBy(rule) },
      });
      return;
    }
    case 'ambiguous': {
      const candidates = decision.candidateIds.map((referenceValue) => ({
        evidence: { referenceKind: ruleCandidateKind, referenceValue },
      }));
      return component.leaveUnmatched(line, 'ambiguous', { candidates });
    }
    case 'matched':
      component.unmatched.delete(line.nsu);
      for (const payment of decision.payments)
        component.allocate({
          ...{ nsu: line.nsu, role: 'payment', rule: 'declared' },
          ...allocatedBy(decision.rule, payment),
          linkedBy: null,
        });
  }
}

function allocatedBy(rule: AppliedRule, payment: RulePayment) {
  const { expected, amountCents, owedCents, differenceCents, evidence } = payment;
  // An instalment and a sale less its fee count as paid in full, whatever is owed on their day.
  const isTolerated = differenceCents !== 0n || evidence !== undefined;
  const difference = isTolerated ? { differenceCents: differenceCents.toString() } : {};
  return {
    expectedPaymentId: expected.expectedPaymentId,
    amountCents,
    ruleOwedCents: owedCents,
    isTolerated,
    declared: declaredBy(rule),
    evidence: { ...evidenceOf(rule), ...difference, ...evidence },
  };
}

/** The rule and its criteria, never the compared values, which may be personal data. */
function evidenceOf({ ruleId, version, then }: AppliedRule) {
  const by = then.do === 'match' ? then.by : ['condition'];
  return { referenceKind: 'rule', referenceValue: `${ruleId}/${version}`, by };
}

const declaredBy = ({ ruleId, version }: AppliedRule) => ({ ruleId, version });

export function toRuleLine(component: Component, line: StatementLineFacts): RuleLine {
  const refunded = debitsRefunding(component, line).map(({ occurredAt }) => occurredAt);
  return {
    firstRefundedAt:
      refunded.length === 0 ? null : new Date(Math.min(...refunded.map((at) => at.getTime()))),
    unlinkedFrom: [...component.separatedFrom(line.nsu)].sort(),
    creditDays: component.facts.creditDays,
    ...line,
  };
}

function toRulePayment(component: Component, payment: ExpectedPaymentFacts): RuleExpectedPayment {
  const { id, references, ...others } = payment;
  return {
    ...others,
    expectedPaymentId: id,
    createdAt: payment.createdAtBankTime,
    cancelledAt: payment.charge?.cancelledAt ?? null,
    paidCents: component.paidCents(id),
    payments: component
      .paymentsOf(id)
      .map(({ line: { nsu, occurredAt }, allocation: { amountCents } }) => {
        return { nsu, occurredAt, amountCents };
      }),
    owedCents: owedWhenPaid(component, payment),
    referenceValues: references
      .filter(({ kind }) => noteReferenceKinds.includes(kind))
      .map(({ value }) => value)
      .sort(),
  };
}

/** The total owed when the last payment so far was made; null if there is none. */
function owedWhenPaid(component: Component, payment: ExpectedPaymentFacts): bigint | null {
  const last = component.paymentsOf(payment.id).at(-1);
  if (!last) return null;
  if (last.allocation.ruleOwedCents !== null) return last.allocation.ruleOwedCents;
  return owedCentsWhenPaid(payment, component.paidCents(payment.id), component.paid(last.line));
}

/** The part of one expected payment that a line pays by a rule. */
export interface RulePayment {
  expected: RuleExpectedPayment;
  amountCents: bigint;
  /**
   * The total owed; null if the payer chooses the amount. Equal to the amount paid where the
   * rule tolerates the difference.
   */
  owedCents: bigint | null;
  /** The amount paid minus the amount owed. */
  differenceCents: bigint;
  /** What the match stores about it besides the rule. */
  evidence?: { instalment: InstalmentEvidence } | { fee: FeeEvidence };
}

export type RuleDecision =
  | { outcome: 'matched'; rule: AppliedRule; payments: RulePayment[] }
  | { outcome: 'classified'; rule: AppliedRule; category: DeclaredCategory; reason: string }
  | { outcome: 'ambiguous'; rule: AppliedRule; candidateIds: string[] }
  | { outcome: 'nothing' };

/**
 * The decision of the rules for each line. A charge that was cancelled after the line is paid only
 * by a line that the rules leave undecided otherwise.
 */
export function decideByRules(
  rules: readonly AppliedRule[],
  lines: readonly RuleLine[],
  expected: readonly RuleExpectedPayment[],
): Map<bigint, RuleDecision> {
  const byState = groupBy(expected, ({ cancelledAt }) => cancelledAt === null);
  const decisions = decideAmong(rules, lines, byState.get(true) ?? []);
  const cancelled = byState.get(false);
  if (!cancelled) return decisions;
  const left = lines.filter(({ nsu }) => decisions.get(nsu)?.outcome === 'nothing');
  // Cancelled sales are not all of a group.
  const others = rules.filter(({ then }) => then.do !== 'match' || !then.netSettlement);
  return new Map([...decisions, ...decideAmong(others, left, cancelled)]);
}

function decideAmong(
  rules: readonly AppliedRule[],
  lines: readonly RuleLine[],
  expected: readonly RuleExpectedPayment[],
): Map<bigint, RuleDecision> {
  const matcher = new RuleMatcher(lines, expected);
  for (const each of [...rules].sort(byPriority)) {
    if (each.then.do === 'classify') matcher.classify(each);
    else matcher.match(each, each.then);
  }
  return matcher.decisions();
}

/** Lines with the same payment options; one payer may have thousands. */
interface LineGroup {
  lines: RuleLine[];
  options: RuleExpectedPayment[][];
  /** The expected payments of all options, by id. */
  wantedById: Map<string, RuleExpectedPayment>;
}

class RuleMatcher {
  private readonly decided = new Map<bigint, RuleDecision>();
  /** Expected payments that an earlier rule has matched or found contested. */
  private readonly unavailable = new Set<string>();
  private readonly byDocument = new Map<string, RuleExpectedPayment[]>();
  private readonly byReference = new Map<string, RuleExpectedPayment[]>();
  /** When charges were cancelled, and when due dates changed. */
  private readonly changesByDay: ReadonlyMap<string, Date[]>;

  constructor(
    private readonly lines: readonly RuleLine[],
    expected: readonly RuleExpectedPayment[],
  ) {
    const ordered = [...expected].sort((a, b) =>
      a.expectedPaymentId < b.expectedPaymentId ? -1 : 1,
    );
    const changes = expected.flatMap(({ cancelledAt, dueDates }) => [
      ...(cancelledAt ? [cancelledAt] : []),
      ...dueDates.flatMap(({ possibleFrom, from }) => [possibleFrom, from]),
    ]);
    this.changesByDay = groupBy(changes, saoPauloDay);
    for (const each of ordered) {
      if (each.counterpartyDocument) addTo(this.byDocument, each.counterpartyDocument, each);
      for (const value of each.referenceValues) addTo(this.byReference, value, each);
    }
  }

  decisions(): Map<bigint, RuleDecision> {
    return new Map(
      this.lines.map(({ nsu }) => [
        nsu,
        this.decided.get(nsu) ?? ({ outcome: 'nothing' } as const),
      ]),
    );
  }

  classify(each: AppliedRule): void {
    if (each.then.do !== 'classify') return;
    const { classify: category, reason } = each.then;
    for (const { nsu } of this.listUndecidedLines(each))
      this.decided.set(nsu, { outcome: 'classified', rule: each, category, reason });
  }

  match(each: AppliedRule, action: MatchAction): void {
    const lines = this.listUndecidedLines(each).filter(
      (line) => !wasRefundedBefore(line, each.activatedAt),
    );
    const linesByKey = groupBy(lines, (line) => this.groupKey(action, line));
    const groups = [...linesByKey.values()].flatMap((lines): LineGroup[] => {
      const options = lines[0]
        ? findOptions(action, lines[0], this.listCandidates(action, lines[0]))
        : [];
      const wantedById = new Map(options.flat().map((one) => [one.expectedPaymentId, one]));
      return options.length === 0 ? [] : [{ lines, options, wantedById }];
    });
    const groupsByExpectedId = new Map<string, LineGroup[]>();
    for (const group of groups)
      for (const id of group.wantedById.keys()) addTo(groupsByExpectedId, id, group);
    const isSingle = (group: LineGroup, id: string) =>
      group.lines.length === 1 && groupsByExpectedId.get(id)?.length === 1;
    const parts = findParts(action, groupsByExpectedId);
    for (const group of groups) {
      const { lines, options, wantedById } = group;
      const chosen =
        options.length === 1 && !isTooLarge(action, options[0]) ? options[0] : undefined;
      const isOnly = [...wantedById.values()].every(
        ({ expectedPaymentId, isMultiUse }) => isMultiUse || isSingle(group, expectedPaymentId),
      );
      const candidateIds = [...wantedById.keys()].sort().slice(0, maxBreakCandidates);
      for (const line of lines) {
        const part = parts?.get(line.nsu);
        if (chosen && (part || (isOnly && !action.plan))) {
          const payments = part ? [part] : paymentsOf(action, line, chosen);
          this.decided.set(line.nsu, { outcome: 'matched', rule: each, payments });
        } else this.decided.set(line.nsu, { outcome: 'ambiguous', rule: each, candidateIds });
      }
      for (const { expectedPaymentId, isMultiUse } of wantedById.values())
        if (!isMultiUse) this.unavailable.add(expectedPaymentId);
    }
  }

  private groupKey(action: MatchAction, line: RuleLine): string {
    const sameDay = this.changesByDay.get(saoPauloDay(line.occurredAt)) ?? [];
    const earlier = sameDay.filter((changedAt) => changedAt <= line.occurredAt).length;
    return `${lineGroupKey(action, line)} ${earlier}`;
  }

  private listUndecidedLines({ when }: AppliedRule): RuleLine[] {
    return this.lines.filter((line) => !this.decided.has(line.nsu) && covers(when, line));
  }

  /**
   * The expected payments that the line could pay: by its document, or else by ids in its
   * notes.
   */
  private listCandidates(action: MatchAction, line: RuleLine): RuleExpectedPayment[] {
    const { counterpartyDocument: document } = line;
    const found = action.by.includes('document')
      ? document === null
        ? []
        : (this.byDocument.get(document) ?? [])
      : findPossibleIds(line.notes).flatMap((word) => this.byReference.get(word) ?? []);
    return [...new Set(found)].filter(({ expectedPaymentId: id }) => !this.unavailable.has(id));
  }
}

/** All options of the line among these candidates, of which each is a set that it would pay. */
export function findOptions(
  action: MatchAction,
  line: RuleLine,
  candidates: readonly RuleExpectedPayment[],
): RuleExpectedPayment[][] {
  const { plan, netSettlement } = action;
  if (plan)
    return candidates.flatMap((each) => (claimsOf(action, line, each).length > 0 ? [[each]] : []));
  if (!netSettlement) return findPaymentOptions(action, line, candidates);
  const sales = candidates.filter((each) => agrees(action, line, each));
  return findSettledGroups(netSettlement, line, sales);
}

function isTooLarge(action: MatchAction, chosen: RuleExpectedPayment[] = []): boolean {
  return action.netSettlement !== undefined && chosen.length > maxSalesOfLine;
}

/** The parts of one expected payment that lines pay, by nsu. Null if the rule matches no parts. */
function findParts(
  action: MatchAction,
  groupsByExpectedId: ReadonlyMap<string, readonly LineGroup[]>,
): Map<bigint, RulePayment> | null {
  if (action.plan) return plannedPartsOf(action, groupsByExpectedId);
  return action.instalments ? instalmentsOf(action, groupsByExpectedId) : null;
}

/** Each instalment, or the whole amount, that exactly one line claims, and that claims no other. */
function plannedPartsOf(
  action: MatchAction,
  groupsByExpectedId: ReadonlyMap<string, readonly LineGroup[]>,
): Map<bigint, RulePayment> {
  const parts = new Map<bigint, RulePayment>();
  for (const [id, groups] of groupsByExpectedId) {
    const expected = groups[0]?.wantedById.get(id);
    if (!expected) continue;
    const lines = groups.flatMap((group) => group.lines);
    const claims = uncontested(lines.flatMap((line) => claimsOf(action, line, expected)));
    const sure = new Set(
      groups.filter(({ wantedById }) => wantedById.size === 1).flatMap((group) => group.lines),
    );
    const made = claims.filter(({ line }) => sure.has(line));
    for (const payment of plannedPayments(action, expected, made)) parts.set(payment.nsu, payment);
  }
  return parts;
}

function plannedPayments(
  { plan }: MatchAction,
  expected: RuleExpectedPayment,
  claims: readonly InstalmentClaim[],
): (RulePayment & { nsu: bigint })[] {
  if (!plan) return [];
  const owed = owedAfterClaims(plan, expected, claims);
  return claims.map(({ line, instalment }) => {
    const { nsu, amountCents } = line;
    const owedCents = owed.get(nsu) ?? null;
    const differenceCents = (owedCents ?? 0n) - (expected.amountCents ?? 0n);
    const payment = { nsu, expected, amountCents, owedCents, differenceCents };
    if (!instalment) return payment;
    return { ...payment, evidence: { instalment: { ...plan, number: instalment.number } } };
  });
}

/**
 * The line pays one expected payment with its full amount, or several with the amount owed for
 * each.
 */
function paymentsOf(
  action: MatchAction,
  line: RuleLine,
  chosen: RuleExpectedPayment[],
): RulePayment[] {
  if (action.netSettlement) return salePayments(line, chosen);
  const [one, ...others] = chosen;
  if (one && others.length === 0) return [paymentOf(action, line, one)];
  return chosen.map((expected) => {
    const amountCents = stillOwed(expected, { ...line, amountCents: 0n }) ?? 0n;
    const owedCents = expected.paidCents + amountCents;
    return { expected, amountCents, owedCents, differenceCents: 0n };
  });
}

/** Each sale counts as paid in full by its part of the line. */
function salePayments(line: RuleLine, chosen: RuleExpectedPayment[]): RulePayment[] {
  const sales = settledSales(line, chosen);
  const lineCents = sales.reduce((sum, { feeCents }) => sum + feeCents, 0n).toString();
  return sales.map(({ expected, amountCents, feeCents }) => ({
    ...{ expected, amountCents, owedCents: expected.paidCents + amountCents },
    differenceCents: -feeCents,
    evidence: { fee: { cents: feeCents.toString(), lineCents, sales: sales.length } },
  }));
}

/** Lines that pay one expected payment in parts, if together they do not exceed the amount owed. */
function instalmentsOf(
  action: MatchAction,
  groupsByExpectedId: ReadonlyMap<string, readonly LineGroup[]>,
): Map<bigint, RulePayment> {
  const parts = new Map<bigint, RulePayment>();
  for (const [id, groups] of groupsByExpectedId) {
    const lines = groups.flatMap((group) => group.lines).sort(compareByTime);
    const expected = groups[0]?.wantedById.get(id);
    const isSure = groups.every(
      ({ options, wantedById }) => options.length === 1 && wantedById.size === 1,
    );
    if (!expected || expected.isMultiUse || !isSure || lines.length < 2) continue;
    let paid = 0n;
    const payments = lines.map((line) => {
      const before = { ...expected, paidCents: expected.paidCents + paid };
      paid += line.amountCents;
      return { nsu: line.nsu, ...paymentOf(action, line, before) };
    });
    const isTooMuch = payments.some(
      ({ differenceCents, amountCents }) =>
        differenceCents > toleranceOf(action, amountCents - differenceCents),
    );
    if (isTooMuch) continue;
    for (const { nsu, ...payment } of payments) parts.set(nsu, payment);
  }
  return parts;
}

function paymentOf(
  action: MatchAction,
  line: RuleLine,
  expected: RuleExpectedPayment,
): RulePayment {
  const { amountCents } = line;
  const openCents = stillOwed(expected, line);
  const before = paidBefore(expected);
  const paid = before + amountCents;
  const differenceCents = openCents === null ? 0n : amountCents - openCents;
  const difference = differenceCents < 0n ? -differenceCents : differenceCents;
  const isTolerated = openCents !== null && difference <= toleranceOf(action, openCents);
  const owedCents = openCents === null ? null : isTolerated ? paid : before + openCents;
  return { expected, amountCents, owedCents, differenceCents };
}
