// The account's own rules, held against lines that no id explains. What a rule matched stays open to change until the
// line's window is closed: it is decided again, with all that competes, whenever one of them comes or goes.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../database.service.js';
import { subjectOfLine, type LineOutcome } from '../line-outcome.js';
import { Breaks } from '../breaks.service.js';
import type { ArrivedLine } from '../outcomes.queries.js';
import { bankFees } from './default-rules.js';
import * as candidates from './rule-candidates.queries.js';
import { gatherCompetition, type Competition } from './rule-competition.queries.js';
import { rule, type Ruling } from './rule-decision.js';
import { groupBy, isOpen, reachOf, type AppliedRule } from './rule.js';
import * as queries from './rules.queries.js';
import { isUnexpected, paidIn, toOutcomes } from './rule-outcomes.js';

const pageSize = 1_000;
/** What was expected in a transaction that was long under way is not passed over. */
export const overlapMs = 60_000;

/** What is to be written: lines of the batch, and others whose explanation has changed. */
export interface Applied {
  lines: ArrivedLine[];
  outcomes: LineOutcome[];
  /** Expected payments of which rules' matches were taken back. */
  released: string[];
}

/** How far a review has come. */
export interface Place {
  after: bigint;
  /**
   * Lines that it has decided with all that competes with them: what has come since was held against them as it came, and
   * of one payer there may be many pages.
   */
  decided: Set<bigint>;
  begun: queries.ReviewState | null;
}

@Injectable()
export class DeclaredRules {
  constructor(private readonly breaks: Breaks) {}

  /** The verdicts, with those that a rule knows better in their place. What was released before is free for others. */
  async apply(tx: Tx, accountId: number, unchanged: Applied): Promise<Applied> {
    const { lines, outcomes } = unchanged;
    const rules = await this.active(tx, accountId);
    if (rules.length === 0) return unchanged;
    const stands = new Set(lines.filter(({ source }) => source === 'open').map(({ nsu }) => nsu));
    const unexpected = outcomes.filter(isUnexpected).map(({ nsu }) => nsu);
    const fresh = unexpected.filter((nsu) => !stands.has(nsu));
    const paid = paidIn(outcomes);
    const known = await candidates.listLines(tx, accountId, fresh);
    const competition = hasMatching(rules)
      ? await gatherCompetition(
          tx,
          accountId,
          {
            lines: known,
            nsus: unexpected.filter((nsu) => stands.has(nsu)),
            expectedPaymentIds: [...paid.keys(), ...unchanged.released],
          },
          reachOf(rules),
        )
      : { lines: new Map(known.map((line) => [line.nsu, line])), expected: new Map() };
    // What the judge explains, or makes wait, in this very batch does not compete.
    const competes = new Set(unexpected);
    for (const { nsu } of outcomes) if (!competes.has(nsu)) competition.lines.delete(nsu);
    for (const [id, payment] of paid) {
      const before = competition.expected.get(id);
      if (before) competition.expected.set(id, payment(before));
    }
    return this.decide(tx, accountId, rules, competition, unchanged);
  }

  /**
   * A page of what rules decide, held against them again: all of it after a change of the rules, otherwise what new
   * and withdrawn expected payments may concern. Null when nothing is left to look at.
   */
  async review(
    tx: Tx,
    accountId: number,
    { after, decided, begun }: Place,
  ): Promise<{ applied: Applied; next: Place | null } | null> {
    // Of its beginning: what changes while it goes on is for the next one.
    const state = begun ?? (await queries.readReviewState(tx, accountId));
    if (!state) return null;
    const { changedAt, reviewedAt, now } = state;
    const isChanged = changedAt !== null && (reviewedAt === null || changedAt > reviewedAt);
    const rules = await this.active(tx, accountId);
    if (!isChanged && !hasMatching(rules)) return null;
    const reach = reachOf(rules);
    const since = new Date((state.lookedAt?.getTime() ?? 0) - overlapMs);
    const page = { after, limit: pageSize };
    const nsus = isChanged
      ? await candidates.pageCompeting(tx, accountId, page)
      : await candidates.pageConcerned(tx, accountId, { ...page, since, byNotes: reach.byNotes });
    const last = nsus.length === pageSize ? nsus.at(-1) : undefined;
    if (last === undefined) await queries.recordReview(tx, accountId, { changedAt, lookedAt: now });
    if (nsus.length === 0) return null;
    const begin = {
      lines: [],
      nsus: nsus.filter((nsu) => !decided.has(nsu)),
      expectedPaymentIds: [],
    };
    const competition = await gatherCompetition(tx, accountId, begin, reach);
    const nothing = { lines: [], outcomes: [], released: [] };
    const applied = await this.decide(tx, accountId, rules, competition, nothing);
    for (const nsu of competition.lines.keys()) decided.add(nsu);
    return { applied, next: last === undefined ? null : { after: last, decided, begun: state } };
  }

  private async active(tx: Tx, accountId: number): Promise<AppliedRule[]> {
    await queries.insertDefault(tx, accountId, bankFees(accountId));
    return queries.listActive(tx, accountId);
  }

  /** Takes back what is so no more, and says what is. */
  private async decide(
    tx: Tx,
    accountId: number,
    rules: AppliedRule[],
    { lines, expected }: Competition,
    before: Applied,
  ): Promise<Applied> {
    if (lines.size === 0) return before;
    const open = [...expected.values()].filter(isOpen);
    const rulings = rule(rules, [...lines.values()], open);
    const said = await candidates.listDeclared(tx, accountId, [...lines.keys()]);
    const declared = groupBy(said, ({ nsu }) => nsu);
    const decidedNow = new Set(before.outcomes.filter(isUnexpected).map(({ nsu }) => nsu));
    const changed = [...lines.values()].filter((line) => {
      const ruling = rulings.get(line.nsu) ?? { of: 'nothing' };
      const isNew = decidedNow.has(line.nsu) && line.standing === null;
      if (isNew) return ruling.of !== 'nothing';
      return !isAsItStands(ruling, line, declared.get(line.nsu) ?? []);
    });
    if (changed.length === 0) return before;
    const nsus = changed.map(({ nsu }) => nsu);
    const released = await candidates.takeBackDeclared(tx, accountId, nsus);
    for (const kind of ['unexpected', 'ambiguous'] as const) {
      const standing = changed.filter((line) => line.standing === kind);
      const subjects = standing.map(({ nsu }) => subjectOfLine(nsu));
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
        ...changed.flatMap((line) => toOutcomes(line, rulings.get(line.nsu) ?? { of: 'nothing' })),
      ],
      released: [...before.released, ...released],
    };
  }
}

/** A line of the batch stays as it came, so that its waiting ends; one that stood is written like a new one. */
function withArrival({ lines }: Applied, changed: candidates.CompetingLine[]): ArrivedLine[] {
  const came = new Map(lines.map((line) => [line.nsu, line]));
  return changed.map((line) => {
    const known = came.get(line.nsu);
    return known && known.source !== 'open' ? known : line;
  });
}

function isAsItStands(
  ruling: Ruling,
  { standing }: candidates.CompetingLine,
  declared: candidates.Declared[],
): boolean {
  if (ruling.of === 'nothing') return standing === 'unexpected' && declared.length === 0;
  if (ruling.of === 'ambiguous') return standing === 'ambiguous' && declared.length === 0;
  const { ruleId } = ruling.rule;
  if (standing !== null || declared.some((one) => one.ruleId !== ruleId)) return false;
  if (ruling.of === 'classified') return declared[0]?.category === ruling.category;
  return (
    ruling.payments.length === declared.length &&
    ruling.payments.every(({ expected, amountCents, owedCents }) =>
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
