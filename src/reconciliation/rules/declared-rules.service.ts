// Applies the account's own rules to lines without a match by reference. Until the line's
// period is closed, a match by a rule is decided again, with all competing lines and expected
// payments, whenever one of them changes.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../database.service.js';
import { subjectOfLine, type LineOutcome } from '../line-outcome.js';
import { Breaks } from '../breaks.service.js';
import type { ArrivedLine } from '../outcomes.queries.js';
import { bankFees } from './default-rules.js';
import * as candidates from './rule-candidates.queries.js';
import { loadRuleComponent, type RuleComponent } from './rule-components.queries.js';
import { decideByRules, type RuleDecision } from './rule-decision.js';
import { groupBy, isOpen, reachOf, type AppliedRule } from './rule.js';
import * as queries from './rules.queries.js';
import { isUnexpected, paidIn, toOutcomes } from './rule-outcomes.js';

const pageSize = 1_000;
/** Reviews overlap, so that expected payments of long database transactions are not missed. */
export const reviewOverlapMs = 60_000;

/** What the caller writes: lines of the batch, and other lines whose outcome has changed. */
export interface RuleOutcomes {
  lines: ArrivedLine[];
  outcomes: LineOutcome[];
  /** Expected payments whose matches by rules have ended. */
  released: string[];
}

/** The progress of a review. */
export interface ReviewCursor {
  after: bigint;
  /**
   * Lines already decided together with all their competitors. They are not decided again:
   * lines that came since were decided on arrival, and one payer may have many pages.
   */
  decided: Set<bigint>;
  state: queries.RuleReviewState | null;
}

@Injectable()
export class DeclaredRules {
  constructor(private readonly breaks: Breaks) {}

  /**
   * Replaces outcomes by decisions of rules. Expected payments in `released` are open to other
   * lines.
   */
  async apply(tx: Tx, accountId: number, unchanged: RuleOutcomes): Promise<RuleOutcomes> {
    const { lines, outcomes } = unchanged;
    const rules = await this.active(tx, accountId);
    if (rules.length === 0) return unchanged;
    const linesInBreaks = new Set(
      lines.filter(({ source }) => source === 'open').map(({ nsu }) => nsu),
    );
    const unexpected = outcomes.filter(isUnexpected).map(({ nsu }) => nsu);
    const fresh = unexpected.filter((nsu) => !linesInBreaks.has(nsu));
    const paid = paidIn(outcomes);
    const known = await candidates.listRuleLines(tx, accountId, fresh);
    const component = hasMatching(rules)
      ? await loadRuleComponent(
          tx,
          accountId,
          {
            lines: known,
            nsus: unexpected.filter((nsu) => linesInBreaks.has(nsu)),
            expectedPaymentIds: [...paid.keys(), ...unchanged.released],
          },
          reachOf(rules),
        )
      : { lines: new Map(known.map((line) => [line.nsu, line])), expected: new Map() };
    // Lines that this batch matches by reference, classifies or defers do not compete.
    const competes = new Set(unexpected);
    for (const { nsu } of outcomes) if (!competes.has(nsu)) component.lines.delete(nsu);
    for (const [id, payment] of paid) {
      const before = component.expected.get(id);
      if (before) component.expected.set(id, payment(before));
    }
    return this.decide(tx, accountId, rules, component, unchanged);
  }

  /**
   * Decides one page of lines by the rules again: all lines after a change of the rules,
   * otherwise lines that new or withdrawn expected payments may affect. Null when nothing is
   * left to review.
   */
  async review(
    tx: Tx,
    accountId: number,
    { after, decided, state: earlier }: ReviewCursor,
  ): Promise<{ applied: RuleOutcomes; next: ReviewCursor | null } | null> {
    // The state at the start of the review: later changes are left to the next review.
    const state = earlier ?? (await queries.readRuleReviewState(tx, accountId));
    if (!state) return null;
    const { changedAt, reviewedAt, now } = state;
    const isChanged = changedAt !== null && (reviewedAt === null || changedAt > reviewedAt);
    const rules = await this.active(tx, accountId);
    if (!isChanged && !hasMatching(rules)) return null;
    const reach = reachOf(rules);
    const since = new Date((state.reviewedUntil?.getTime() ?? 0) - reviewOverlapMs);
    const page = { after, limit: pageSize };
    const nsus = isChanged
      ? await candidates.pageComponentLines(tx, accountId, page)
      : await candidates.pageAffectedLines(tx, accountId, {
          ...page,
          since,
          byNotes: reach.byNotes,
        });
    const last = nsus.length === pageSize ? nsus.at(-1) : undefined;
    if (last === undefined)
      await queries.recordRuleReview(tx, accountId, { changedAt, reviewedUntil: now });
    if (nsus.length === 0) return null;
    const start = {
      lines: [],
      nsus: nsus.filter((nsu) => !decided.has(nsu)),
      expectedPaymentIds: [],
    };
    const component = await loadRuleComponent(tx, accountId, start, reach);
    const nothing = { lines: [], outcomes: [], released: [] };
    const applied = await this.decide(tx, accountId, rules, component, nothing);
    for (const nsu of component.lines.keys()) decided.add(nsu);
    return { applied, next: last === undefined ? null : { after: last, decided, state: state } };
  }

  private async active(tx: Tx, accountId: number): Promise<AppliedRule[]> {
    await queries.insertDefaultRule(tx, accountId, bankFees(accountId));
    return queries.listActiveRules(tx, accountId);
  }

  /** Ends outcomes by rules that no longer hold, and returns the new ones. */
  private async decide(
    tx: Tx,
    accountId: number,
    rules: AppliedRule[],
    { lines, expected }: RuleComponent,
    before: RuleOutcomes,
  ): Promise<RuleOutcomes> {
    if (lines.size === 0) return before;
    const open = [...expected.values()].filter(isOpen);
    const decisions = decideByRules(rules, [...lines.values()], open);
    const declaredOutcomes = await candidates.listDeclaredOutcomes(tx, accountId, [
      ...lines.keys(),
    ]);
    const declared = groupBy(declaredOutcomes, ({ nsu }) => nsu);
    const decidedNow = new Set(before.outcomes.filter(isUnexpected).map(({ nsu }) => nsu));
    const changed = [...lines.values()].filter((line) => {
      const decision = decisions.get(line.nsu) ?? { outcome: 'nothing' };
      const isNew = decidedNow.has(line.nsu) && line.breakKind === null;
      if (isNew) return decision.outcome !== 'nothing';
      return !isUnchanged(decision, line, declared.get(line.nsu) ?? []);
    });
    if (changed.length === 0) return before;
    const nsus = changed.map(({ nsu }) => nsu);
    const released = await candidates.deleteDeclaredOutcomes(tx, accountId, nsus);
    for (const kind of ['unexpected', 'ambiguous'] as const) {
      const ofKind = changed.filter((line) => line.breakKind === kind);
      const subjects = ofKind.map(({ nsu }) => subjectOfLine(nsu));
      await this.breaks.resolve(tx, accountId, kind, subjects);
    }
    const isChanged = new Set(nsus);
    return {
      lines: [
        ...before.lines.filter(({ nsu }) => !isChanged.has(nsu)),
        ...withArrival(before, changed),
      ],
      outcomes: [
        ...before.outcomes.filter(({ nsu }) => !isChanged.has(nsu)),
        ...changed.flatMap((line) =>
          toOutcomes(line, decisions.get(line.nsu) ?? { outcome: 'nothing' }),
        ),
      ],
      released: [...before.released, ...released],
    };
  }
}

/**
 * Lines of the batch keep their source, so that their deferral ends; lines in breaks count as
 * new.
 */
function withArrival({ lines }: RuleOutcomes, changed: candidates.CompetingLine[]): ArrivedLine[] {
  const came = new Map(lines.map((line) => [line.nsu, line]));
  return changed.map((line) => {
    const known = came.get(line.nsu);
    return known && known.source !== 'open' ? known : line;
  });
}

function isUnchanged(
  decision: RuleDecision,
  { breakKind }: candidates.CompetingLine,
  declared: candidates.DeclaredOutcome[],
): boolean {
  if (decision.outcome === 'nothing') return breakKind === 'unexpected' && declared.length === 0;
  if (decision.outcome === 'ambiguous') return breakKind === 'ambiguous' && declared.length === 0;
  const { ruleId } = decision.rule;
  if (breakKind !== null || declared.some((one) => one.ruleId !== ruleId)) return false;
  if (decision.outcome === 'classified') return declared[0]?.category === decision.category;
  return (
    decision.payments.length === declared.length &&
    decision.payments.every(({ expected, amountCents, owedCents }) =>
      declared.some(
        (one) =>
          one.expectedPaymentId === expected.expectedPaymentId &&
          one.amountCents === amountCents &&
          one.owedCents === owedCents,
      ),
    )
  );
}

function hasMatching(rules: AppliedRule[]): boolean {
  return rules.some(({ then }) => then.do === 'match');
}
