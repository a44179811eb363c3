// Writes the difference between a decision and what is stored: matches, classifications, breaks,
// outcomes of lines, totals of payments and events, in the transaction that loaded the facts. Its
// caller holds the account's reconciliation lock.
import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { SqlTx } from '../../platform/postgres/database.service.js';
import type { NewEvent } from '../../events/event.js';
import { EventsService } from '../../events/events.service.js';
import { listPaidCorrelationIds } from '../../statement/expected-payments/event-subjects.queries.js';
import { insertFacts } from '../../statement/expected-payments/expected-payments.queries.js';
import { unresolvedStates } from '../../outbound/operation-states.js';
import { groupBy } from '../../platform/grouping.js';
import {
  recordDelayedLineTasks,
  recordPaymentTasks,
  recordRangeTask,
} from '../../statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import * as queries from './decision-writer.queries.js';
import * as breakQueries from './break-writer.queries.js';
import type { StoredBreak } from '../load/stored-breaks.queries.js';
import { BreakWriter } from './break-writer.service.js';
import { breakKey, type Component } from '../decide/component.js';
import { openBreaks, resolutionOf, type OpenBreak } from '../decide/breaks.js';
import type { Decision } from '../decide/decide.js';
import { countedAllocations, sumsOfCode, totalOfCode, totalOfPayment } from '../decide/totals.js';
import { lineOutcomes } from '../decide/line-outcomes.js';
import { notedDebits } from '../decide/debit-evidence.js';
import { openCandidates } from '../decide/unrequested-debits.js';
import { eventsOfMatches, missingEvent, unexpectedEvent, unlinkedEvent } from './line-events.js';
import {
  changedOutcomes,
  writeLineOutcomes,
  type OutcomeLine,
} from '../load/line-leaves.queries.js';
import {
  decidedBreakKinds,
  lineBreakKinds,
  subjectOfLine,
  subjectOfOperation,
} from '../decide/break-kinds.js';
import type {
  DecisionMaker,
  ExpectedPaymentFacts,
  LineAllocation,
  StatementLineFacts,
} from '../decide/model.js';
import { amountsOf, changedAmounts, isSame, isSamePart } from './match-differences.js';
import { recordDecidedLines } from './reconciliation-metrics.service.js';
import { recordTraces } from './decision-traces.service.js';

export interface AppliedChanges {
  /** Operations whose payment the statement shows; they advance after the commit. */
  operationIds: string[];
  /** Whether anything changed: events may be waiting for their delivery. */
  isChanged: boolean;
  /** Whether somebody may be notified of a debit as of now. */
  hasNotedDebits: boolean;
  /** With another outcome than before. */
  lines: readonly Pick<StatementLineFacts, 'nsu' | 'occurredAt'>[];
}

export const nothingChanged: AppliedChanges = {
  ...{ operationIds: [], isChanged: false, hasNotedDebits: false, lines: [] },
};

/** The person who ended the link of a line in this transaction. */
export type UnlinkedBy = DecisionMaker & { nsu: bigint };

export interface Circumstances {
  /** How late a line may show that another line refunds or reverses. */
  freshMs: number;
  /** Read before the new lines were listed. */
  closed: ClosedPeriod;
  /** With these lines, everything that was due when `closed` was read is decided. */
  isLastOfDue?: boolean;
  unlinkedBy?: UnlinkedBy | null;
}

/** What is stored about the lines and payments of a decision. */
export interface StoredState {
  lines: readonly OutcomeLine[];
  breaks: readonly StoredBreak[];
}

/** A decision that is written while the one before it still may be. */
export interface NextDecision {
  decision: Decision;
  /** What was stored about the facts that it was computed from. */
  stored: StoredState;
  /**
   * Resolves when the decision before it in the transaction is applied. The two have nothing in
   * common but multi-use QR codes and the order of their events.
   */
  previous: Promise<unknown>;
}

/** A line in the closed period that a rule of the account's own decided. */
export interface LineByRule {
  nsu: bigint;
  isCredit: boolean;
  /** The operations whose payment it shows; they advance once it is final. */
  operationIds: string[];
}

/** Stored without an actor: the same match may be made again. */
const replaced = 'The line is decided otherwise now.';

interface Difference {
  /** The matches of the lines before. */
  before: queries.StoredMatch[];
  made: LineAllocation[];
  /** Made by no rule of the account: they are new, or until now such a rule made them. */
  standing: LineAllocation[];
  ended: queries.StoredMatch[];
}

interface WrittenBreaks {
  resolved: breakQueries.ReportedBreak[];
  opened: breakQueries.ReportedBreak[];
  events: NewEvent[];
  hasChanged: boolean;
}

@Injectable()
export class DecisionWriter {
  constructor(
    private readonly events: EventsService,
    private readonly breaks: BreakWriter,
  ) {}

  /**
   * Ends after `previous`. Call `makeFinal` once all decisions of the transaction are applied.
   */
  async apply(
    tx: SqlTx,
    accountId: number,
    { decision, stored, previous }: NextDecision,
    { freshMs, unlinkedBy = null }: Circumstances,
  ): Promise<AppliedChanges> {
    const { component } = decision;
    const { lines, expectedPayments, operations: dueOperations } = component.facts;
    if (lines.length + expectedPayments.length + dueOperations.length === 0) {
      await previous;
      return nothingChanged;
    }
    const open = openBreaks(decision);
    const before = await this.readBefore(tx, accountId, stored.lines);
    // PostgreSQL writes what was sent first while the rest is computed.
    const [difference, hasClassified, breaks, changed, hasNotedDebits] = await Promise.all([
      this.writeMatches(tx, accountId, decision, { known: before.matches, unlinkedBy }),
      this.writeClassifications(tx, accountId, component, before.classifications),
      this.writeBreaks(tx, accountId, component, { open, stored: stored.breaks }),
      setImmediate().then(() => this.writeOutcomes(tx, accountId, { decision, stored, open })),
      queries.writeNotedDebits(tx, accountId, stored.lines, notedDebits(component)),
      setImmediate().then(() =>
        this.writeTotals(tx, accountId, { decision, previous }, before.matches),
      ),
      this.recordLaterTasks(tx, accountId, component, freshMs),
      queries.writeCandidates(tx, accountId, stored.lines, openCandidates(component)),
      this.reinstateShown(tx, accountId, component),
    ]);
    await previous;
    this.breaks.reportResolved(tx, accountId, breaks.resolved);
    this.breaks.reportOpened(tx, accountId, breaks.opened);
    // Read when the matches are written: a charge and its refund may be paid in one batch.
    const refunded = refundedNsus(component, [...difference.made, ...difference.ended]);
    const paid = await listPaidCorrelationIds(tx, accountId, refunded);
    const events = [
      ...difference.ended.map((match) => unlinkedEvent(component, match, paid)),
      ...eventsOfMatches(decision, difference.made, paid),
      ...breaks.events,
    ];
    this.events.record(
      tx,
      accountId,
      await recordTraces(tx, accountId, { events, decision, made: difference.made }),
    );
    return {
      // A provisional match ends no operation.
      operationIds: operationsShown(component, difference.standing),
      isChanged: events.length > 0 || hasClassified || breaks.hasChanged,
      hasNotedDebits,
      lines: changed.flatMap((nsu) => component.lineByNsu.get(nsu) ?? []),
    };
  }

  /** The matches and classifications of the lines that were decided before. */
  private async readBefore(tx: SqlTx, accountId: number, lines: readonly OutcomeLine[]) {
    const nsus = lines.filter(({ version }) => version !== null).map(({ nsu }) => nsu);
    const [matches, classifications] = await Promise.all([
      queries.listStoredMatches(tx, accountId, nsus),
      queries.listStoredClassifications(tx, accountId, nsus),
    ]);
    return { matches, classifications };
  }

  private async writeOutcomes(
    tx: SqlTx,
    accountId: number,
    { decision, stored, open }: { decision: Decision; stored: StoredState; open: OpenBreak[] },
  ): Promise<bigint[]> {
    const outcomes = lineOutcomes(decision, open);
    const changed = changedOutcomes(accountId, stored.lines, outcomes);
    recordDecidedLines(tx, await writeLineOutcomes(tx, accountId, changed));
    return changed.map(({ nsu }) => nsu);
  }

  /** Replaces the matches of lines whose allocations differ. Others keep their ids. */
  private async writeMatches(
    tx: SqlTx,
    accountId: number,
    { component, results }: Decision,
    { known, unlinkedBy }: { known: queries.StoredMatch[]; unlinkedBy: UnlinkedBy | null },
  ): Promise<Difference> {
    const nsus = component.facts.lines.map(({ nsu }) => nsu);
    const stored = groupBy(known, ({ nsu }) => nsu);
    const changed = nsus.filter(
      (nsu) => !isSame(stored.get(nsu) ?? [], component.allocationsOfLine(nsu)),
    );
    const ending = changed.filter((nsu) => stored.has(nsu));
    const matches = changed.flatMap((nsu) => component.allocationsOfLine(nsu));
    // One after the other on the connection.
    await Promise.all([
      queries.unlinkMatches(
        tx,
        accountId,
        ending.map((nsu) => {
          const isByPerson = unlinkedBy?.nsu === nsu;
          const { actor, reason } = isByPerson ? unlinkedBy : { actor: null, reason: replaced };
          return { nsu, actor, reason };
        }),
      ),
      queries.insertMatches(
        tx,
        accountId,
        matches.map((match) => ({ match, amounts: amountsOf(results.get(match)) })),
      ),
      queries.updateMatchAmounts(tx, accountId, changedAmounts(stored, { component, results })),
    ]);
    const before = ending.flatMap((nsu) => stored.get(nsu) ?? []);
    const stoodBefore = before.filter(({ rule }) => rule !== 'declared');
    return {
      before: known,
      made: matches.filter((match) => !before.some((one) => isSamePart(one, match))),
      standing: matches.filter(
        (match) => match.rule !== 'declared' && !stoodBefore.some((one) => isSamePart(one, match)),
      ),
      ended: before.filter((one) => !matches.some((match) => isSamePart(one, match))),
    };
  }

  private async writeClassifications(
    tx: SqlTx,
    accountId: number,
    { facts, unmatched }: Component,
    stored: readonly queries.StoredClassification[],
  ): Promise<boolean> {
    const nsus = facts.lines.map(({ nsu }) => nsu);
    const storedByNsu = new Map(stored.map((one) => [one.nsu, one]));
    const isUnchanged = (nsu: bigint) => {
      const [was, is] = [storedByNsu.get(nsu), unmatched.get(nsu)];
      if (is?.outcome !== 'classified') return was === undefined;
      const { category, rule, declared } = is;
      return (
        was?.category === category &&
        was.rule === rule &&
        was.ruleId === (declared?.ruleId ?? null) &&
        was.ruleVersion === (declared?.version ?? null)
      );
    };
    const changed = nsus.filter((nsu) => !isUnchanged(nsu));
    const classified = changed.flatMap((nsu) => {
      const outcome = unmatched.get(nsu);
      return outcome?.outcome === 'classified' ? [{ nsu, ...outcome }] : [];
    });
    const replacedNsus = changed.filter((nsu) => storedByNsu.has(nsu));
    await Promise.all([
      queries.deleteClassifications(tx, accountId, replacedNsus),
      queries.insertClassifications(tx, accountId, classified),
    ]);
    return changed.length > 0;
  }

  /**
   * Makes final what rules decided in the closed period, once every line that arrived before its
   * closing is decided and none of the same direction is pending. Until then the period stays due.
   */
  async makeFinal(
    tx: SqlTx,
    accountId: number,
    byRule: readonly LineByRule[],
    { closed, freshMs, isLastOfDue = false }: Circumstances,
  ): Promise<AppliedChanges> {
    const lineByNsu = new Map(byRule.map((line) => [line.nsu, line]));
    const nsus = await queries.listProvisionalLines(tx, accountId, [...lineByNsu.keys()]);
    if (nsus.length === 0) return nothingChanged;
    if (!isLastOfDue) {
      await recordRangeTask(tx, accountId, 'period');
      return nothingChanged;
    }
    const pending = await queries.listPendingDirections(tx, accountId, closed);
    const isFree = (nsu: bigint) => !pending.includes(lineByNsu.get(nsu)?.isCredit === true);
    const free = nsus.filter(isFree);
    if (free.length < nsus.length)
      await recordRangeTask(tx, accountId, 'period', { delayMs: freshMs });
    await queries.makeFinal(tx, accountId, free);
    const operationIds = free.flatMap((nsu) => lineByNsu.get(nsu)?.operationIds ?? []);
    return { ...nothingChanged, operationIds, isChanged: operationIds.length > 0 };
  }

  /** A line that waits for another one is decided again when that one can no longer come. */
  private async recordLaterTasks(
    tx: SqlTx,
    accountId: number,
    component: Component,
    freshMs: number,
  ): Promise<void> {
    const { facts, unmatched } = component;
    const waiting = [...unmatched].flatMap(([nsu, outcome]) =>
      outcome.outcome === 'pending' && outcome.waitsFor === 'line' ? [nsu] : [],
    );
    await recordDelayedLineTasks(tx, accountId, waiting, freshMs);
    const failing = facts.expectedPayments.filter(
      ({ id, transfer }) => transfer?.failure === 'recent' && component.netCents(id) > 0n,
    );
    await recordPaymentTasks(
      tx,
      accountId,
      failing.map(({ id }) => id),
      freshMs,
    );
  }

  /**
   * The totals of payments whose lines are all in the component. The payments of a multi-use QR
   * code are decided apart: its total changes by what changed of these lines.
   */
  private async writeTotals(
    tx: SqlTx,
    accountId: number,
    { decision, previous }: Pick<NextDecision, 'decision' | 'previous'>,
    before: readonly queries.StoredMatch[],
  ): Promise<void> {
    const { expectedPayments } = decision.component.facts;
    const codes = expectedPayments.filter(isCode);
    const others = expectedPayments.filter((payment) => !isCode(payment));
    const ids = codes.map(({ id }) => id);
    if (ids.length > 0) await previous;
    const stored = await queries.listStoredSums(tx, accountId, ids);
    const sumsById = new Map(stored.map((sums) => [sums.expectedPaymentId, sums]));
    const changed = codes.map((code) => {
      const matches = before.filter(({ expectedPaymentId }) => expectedPaymentId === code.id);
      const change = { matches, now: countedAllocations(decision, code.id) };
      return { code, sums: sumsOfCode(sumsById.get(code.id), change) };
    });
    // A rule may have accepted less than the amount.
    const short = changed.filter(
      ({ code, sums }) => sums.unrefundedCents < (code.amountCents ?? 0n),
    );
    const owedById = await queries.listDecidingOwed(
      tx,
      accountId,
      short.map(({ code }) => code.id),
    );
    await queries.writeTotals(tx, accountId, [
      ...others.map((payment) => ({
        expectedPaymentId: payment.id,
        ...totalOfPayment(decision, payment),
      })),
      ...changed.map(({ code, sums }) => ({
        expectedPaymentId: code.id,
        ...totalOfCode(code, sums, owedById.get(code.id) ?? code.amountCents),
      })),
    ]);
  }

  /**
   * Returns the breaks to report, and the events of lines in a break for the first time and of
   * missing payments.
   */
  private async writeBreaks(
    tx: SqlTx,
    accountId: number,
    component: Component,
    breaks: { open: readonly OpenBreak[]; stored: readonly StoredBreak[] },
  ): Promise<WrittenBreaks> {
    const { open } = breaks;
    const stored = breaks.stored.filter((one) => isAbout(component, one));
    const openByKey = new Map(open.map((one) => [breakKey(one), one]));
    const wasOpen = new Set(stored.filter(isOpen).map(breakKey));
    const ended = stored.filter((one) => isOpen(one) && !openByKey.has(breakKey(one)));
    const resolved = ended.map((one) => ({ id: one.id, ...resolutionOf(component, one) }));
    const fresh = [...openByKey.values()].filter((one) => !wasOpen.has(breakKey(one)));
    const others = [...openByKey.values()].filter((one) => wasOpen.has(breakKey(one)));
    const [nowResolved, nowOpen] = await Promise.all([
      breakQueries.resolveDecidedBreaks(tx, accountId, resolved),
      breakQueries.openDecidedBreaks(tx, accountId, fresh),
      this.breaks.revise(tx, accountId, others),
    ]);
    const inBreak = new Set(
      stored.filter((one) => isOpen(one) && isOfUnmatchedLine(one)).map(({ nsu }) => nsu),
    );
    const events = fresh
      .filter((one) => isOfUnmatchedLine(one) && !inBreak.has(one.nsu))
      .flatMap(({ nsu, kind }) => {
        const line = nsu === null ? undefined : component.lineByNsu.get(nsu);
        const isMatched = nsu !== null && component.allocationsOfLine(nsu).length > 0;
        return line && !isMatched ? [unexpectedEvent(line, kind)] : [];
      });
    for (const { kind, expectedPaymentId } of fresh) {
      const payment = component.paymentById.get(expectedPaymentId ?? '');
      const event = kind === 'missing' && payment && missingEvent(payment);
      if (event) events.push(event);
    }
    const hasChanged = fresh.length + ended.length > 0;
    return { resolved: nowResolved, opened: nowOpen, events, hasChanged };
  }

  /**
   * Payments that were withdrawn and that the statement shows: they, and the other payments of an
   * operation that was proven absent, may appear after all.
   */
  private async reinstateShown(tx: SqlTx, accountId: number, component: Component): Promise<void> {
    const shown = component.facts.expectedPayments.filter(
      ({ id, withdrawal, declared }) =>
        // What another system cancelled stays cancelled, also when it is paid.
        declared === null && withdrawal !== null && component.paidCents(id) > 0n,
    );
    const absent = shown.filter(({ withdrawal }) => withdrawal === 'absence_proven');
    const operationIds = absent.flatMap(({ operationId }) => operationId ?? []);
    await insertFacts(tx, accountId, { operationIds }, 'absence_revoked');
    const ids = shown.map(({ id }) => id);
    await insertFacts(tx, accountId, { ids }, 'absence_revoked');
  }
}

/** The operations without a known outcome whose payments these matches show. */
function operationsShown(component: Component, matches: readonly LineAllocation[]): string[] {
  const operations = matches
    .filter(({ role }) => role === 'payment')
    .flatMap(({ expectedPaymentId }) => component.paymentById.get(expectedPaymentId) ?? [])
    .filter(
      ({ operationState: state }) =>
        state !== null && (unresolvedStates as string[]).includes(state),
    );
  return [...new Set(operations.flatMap(({ operationId }) => operationId ?? []))];
}

/** The received Pix that the refunds among these matches return. */
function refundedNsus(
  { paymentById }: Component,
  matches: readonly Pick<LineAllocation, 'expectedPaymentId'>[],
): bigint[] {
  return matches.flatMap(
    ({ expectedPaymentId }) => paymentById.get(expectedPaymentId)?.refundOfNsu ?? [],
  );
}

/** The lines of a component that rules decided in the closed period. */
export function linesByRule(component: Component, closed: ClosedPeriod): LineByRule[] {
  const { closedFrom: from, closedUntil: until } = closed;
  if (from === null || until === null) return [];
  return component.lines
    .filter(({ occurredAt }) => occurredAt >= from && occurredAt < until)
    .filter(({ nsu }) => isDecidedByRule(component, nsu))
    .map(({ nsu, isCredit }) => {
      const operationIds = operationsShown(component, component.allocationsOfLine(nsu));
      return { nsu, isCredit, operationIds };
    });
}

/** Whether a rule of the account's own matched or classified the line. */
function isDecidedByRule(component: Component, nsu: bigint): boolean {
  const outcome = component.unmatched.get(nsu);
  if (outcome?.outcome === 'classified') return outcome.rule === 'declared';
  return component.allocationsOfLine(nsu).some(({ rule }) => rule === 'declared');
}

/** A multi-use QR code: each of its payments is decided apart. */
const isCode = ({ isCredit, isMultiUse }: ExpectedPaymentFacts): boolean => isCredit && isMultiUse;

/** The lines of a multi-use QR code are decided apart: its other breaks are not about these. */
function isAbout(
  { facts, lineByNsu, paymentById }: Component,
  { kind, subject, nsu, expectedPaymentId }: StoredBreak,
): boolean {
  // Breaks of days have another cause.
  if (!decidedBreakKinds.includes(kind) || subject.startsWith('day:')) return false;
  if (nsu !== null && subject === subjectOfLine(nsu)) return lineByNsu.has(nsu);
  if (expectedPaymentId === null)
    return facts.operations.some(({ id }) => subject === subjectOfOperation(id));
  const payment = paymentById.get(expectedPaymentId);
  return payment !== undefined && !isCode(payment);
}

const isOpen = ({ state }: StoredBreak): boolean => state === 'open';
function isOfUnmatchedLine({ kind, nsu }: Pick<OpenBreak, 'kind' | 'nsu'>): boolean {
  return nsu !== null && lineBreakKinds.includes(kind);
}
