// Makes and undoes manual matches under the reconciliation lock, so that no batch decides the line
// meanwhile. No rule displaces a manual match. No rule links a pair again that a person has
// unlinked.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { Tx } from '../../database.service.js';
import { EventsService } from '../../events/events.service.js';
import { ExpectedPaymentsService } from '../../expected-payments/expected-payments.service.js';
import { owedCentsWhenPaid, settlementOfPaidAmount } from '../../expected-payments/settlement.js';
import { AppError } from '../../platform/errors.js';
import { JobQueue } from '../../platform/job-queue.js';
import { reversalSettlement, subjectOfExpected, subjectOfLine } from '../line-outcome.js';
import { Breaks } from '../breaks.service.js';
import { chargeEvent } from '../line-events.js';
import { resolveReversed } from '../breaks.queries.js';
import { movementEvent } from '../movement-events.js';
import { listRepeatedPayments } from '../repeated-payments.queries.js';
import { deferOwnTransferCredits } from '../own-transfers.queries.js';
import { isRefundInProgress, lockBreaksOfLine } from '../refunded-breaks.queries.js';
import { markRulesChanged } from '../rules/rules.queries.js';
import { unlinkSurplusReversals } from '../unlinking.queries.js';
import { SettlementReview } from '../settlement-review.service.js';
import { settlementNetOfRefunds } from '../net-settlement.js';
import * as outcomes from '../outcomes.queries.js';
import { resolveLineBreaks, insertBreakHistoryEntry } from './break-actions.queries.js';
import * as queries from './manual-matches.queries.js';

export interface Allocation {
  expectedPaymentId: string;
  /** Null: the whole line. */
  amountCents: bigint | null;
}

export interface Link {
  nsu: bigint;
  allocations: Allocation[];
}

export interface Linked {
  matchIds: string[];
  /** Operations without a known outcome that the match proves succeeded. */
  operationIds: string[];
}

type Allocated = queries.ManualMatchExpected & queries.ManualMatch & { allocatedCents: bigint };

const undecidedStates: readonly (string | null)[] = ['unknown', 'needs_operator', 'not_executed'];

@Injectable()
export class ManualMatches {
  constructor(
    private readonly events: EventsService,
    private readonly expectedPayments: ExpectedPaymentsService,
    private readonly breaks: Breaks,
    private readonly settlements: SettlementReview,
  ) {}

  /**
   * Links a line to expected payments and displaces its automatic matches. Throws `not_found`,
   * `rule_broken`, and `conflict` if a person has linked the line already.
   */
  async link(
    tx: Tx,
    accountId: number,
    { nsu, allocations }: Link,
    decidedBy: queries.DecidedBy,
  ): Promise<Linked> {
    const decidedArrival = await outcomes.lockReconciliation(tx, accountId);
    const line = await queries.findManualMatchLine(tx, accountId, nsu);
    if (!line) throw new AppError('not_found');
    if (line.arrival > decidedArrival)
      throw new AppError('conflict', {
        public: 'The line is new and not decided yet; try again in a moment.',
        reason: 'line_is_pending',
      });
    if (line.hasManualMatch)
      throw new AppError('conflict', {
        public: 'The line is already linked manually; unlink it first.',
        reason: 'line_is_linked',
      });
    await lockBreaksOfLine(tx, accountId, nsu);
    await assertNoRefundInProgress(tx, accountId, { nsu });
    const allocated = await this.allocate(tx, accountId, line, allocations);
    const { reason } = decidedBy;
    const before = await queries.unlinkMatchesOfLine(tx, accountId, nsu, { actor: null, reason });
    await queries.deleteOtherOutcomes(tx, accountId, nsu);
    const matchIds = await queries.insertManualMatches(
      tx,
      accountId,
      nsu,
      allocated.map((one) => ({ ...one, amountCents: one.allocatedCents })),
      decidedBy,
    );
    const linked = allocated.map(({ expectedPaymentId }) => expectedPaymentId);
    const paid = allocated.filter(({ role }) => role === 'payment');
    await this.reinstate(tx, accountId, paid);
    const resolved = await resolveLineBreaks(tx, accountId, nsu, 'link', decidedBy);
    const reversed = await resolveReversed(tx, accountId, linked);
    await this.breaks.reportResolved(tx, accountId, [...resolved, ...reversed]);
    const paidSubjects = paid.map(({ expectedPaymentId }) => subjectOfExpected(expectedPaymentId));
    await this.breaks.resolve(tx, accountId, 'missing', paidSubjects);
    // Earlier identical matches of the line were reported when they were made.
    const fresh = allocated.filter((one) => !before.some((known) => isSameMatch(known, one)));
    await this.reportOf(tx, accountId, line, fresh);
    if (paid.length > 0) await deferOwnTransferCredits(tx, accountId, [nsu]);
    const displaced = before.map(({ expectedPaymentId }) => expectedPaymentId);
    await this.reviewSettlements(tx, accountId, displaced, linked);
    await markRulesChanged(tx, accountId);
    const undecided = paid.filter(({ operationState }) => undecidedStates.includes(operationState));
    return { matchIds, operationIds: undecided.map(({ operationId }) => operationId) };
  }

  /**
   * Unlinks all matches of the line, since they sum to it. The line is decided again; no rule
   * and no reference makes the same matches again. Throws `conflict` if the match is unlinked
   * already.
   */
  async unlink(
    tx: Tx,
    accountId: number,
    {
      nsu,
      matchId,
      isReconsidered = true,
    }: { nsu: bigint; matchId: string; isReconsidered?: boolean },
    decidedBy: queries.DecidedBy,
  ): Promise<string[]> {
    await outcomes.lockReconciliation(tx, accountId);
    const unlinked = await queries.unlinkMatchesOfLine(tx, accountId, nsu, decidedBy);
    if (!unlinked.some(({ id }) => id === matchId))
      throw new AppError('conflict', {
        public: 'The match is already unlinked.',
        reason: 'already_unlinked',
      });
    const expected = [...new Set(unlinked.map(({ expectedPaymentId }) => expectedPaymentId))];
    const subjects = [subjectOfLine(nsu), ...expected.map(subjectOfExpected)];
    for (const breakId of await queries.resetLinkedBreaks(tx, accountId, nsu, subjects))
      await insertBreakHistoryEntry(tx, accountId, breakId, 'unlink', decidedBy, {
        nsu: nsu.toString(),
      });
    if (isReconsidered) await outcomes.recordPendingLines(tx, accountId, [], [nsu]);
    await this.reviewSettlements(tx, accountId, expected);
    await markRulesChanged(tx, accountId);
    return unlinked.map(({ id }) => id);
  }

  /**
   * Reviews settlements after a change of matches. Reversals that exceed the amount still paid are
   * unlinked, and their lines are decided again.
   */
  private async reviewSettlements(
    tx: Tx,
    accountId: number,
    undone: string[],
    linked: string[] = [],
  ): Promise<void> {
    const surplus = await unlinkSurplusReversals(tx, accountId, undone);
    const nsus = [...new Set(surplus.map(({ nsu }) => nsu))];
    await outcomes.recordPendingLines(tx, accountId, [], nsus);
    const touched = surplus.map(({ expectedPaymentId }) => expectedPaymentId);
    await this.settlements.review(tx, accountId, [...new Set([...linked, ...undone, ...touched])]);
  }

  private async allocate(
    tx: Tx,
    accountId: number,
    line: queries.ManualMatchLine,
    allocations: Allocation[],
  ): Promise<Allocated[]> {
    const ids = allocations.map(({ expectedPaymentId }) => expectedPaymentId.toLowerCase());
    if (new Set(ids).size < ids.length)
      throw broken('allocations_differ', 'Each expected payment must occur once in allocations.');
    const cents = allocations.map(({ amountCents }) => amountCents ?? line.amountCents);
    if (cents.reduce((sum, one) => sum + one, 0n) !== line.amountCents)
      throw broken(
        'allocations_differ',
        'The amounts of the allocations must sum to the amount of the line.',
      );
    const expected = await queries.listManualMatchExpected(tx, accountId, line.nsu, ids);
    const byId = new Map(expected.map((one) => [one.expectedPaymentId, one]));
    const day = saoPauloDay(line.occurredAt);
    return ids.map((id, index) => {
      const one = byId.get(id);
      if (!one) throw new AppError('not_found');
      const allocatedCents = cents[index] ?? 0n;
      const role = one.isCredit === line.isCredit ? 'payment' : 'reversal';
      if (role === 'reversal') assertReversible(one, allocatedCents);
      else assertPayable(one, line, allocatedCents);
      const owedCents =
        role === 'reversal' ? null : owedCentsWhenPaid(one, one.paidCents + allocatedCents, day);
      return { ...one, allocatedCents, owedCents, role } as Allocated;
    });
  }

  /** Reinstates withdrawn expected payments whose money the statement shows after all. */
  private async reinstate(tx: Tx, accountId: number, allocated: Allocated[]): Promise<void> {
    const withdrawn = allocated.filter(({ isWithdrawn }) => isWithdrawn);
    const notDone = withdrawn.filter(({ operationState }) => operationState === 'not_executed');
    await this.expectedPayments.reinstate(
      tx,
      accountId,
      notDone.map(({ operationId }) => operationId),
    );
    await this.expectedPayments.reinstatePayments(
      tx,
      accountId,
      withdrawn.map(({ expectedPaymentId }) => expectedPaymentId),
    );
  }

  /** Records the same events as an automatic match would. */
  private async reportOf(
    tx: Tx,
    accountId: number,
    line: queries.ManualMatchLine,
    allocated: Allocated[],
  ): Promise<void> {
    const ids = allocated.map(({ expectedPaymentId }) => expectedPaymentId);
    const charges = await outcomes.listChargesOf(tx, accountId, ids);
    const transfers = await outcomes.listTransfersOf(tx, accountId, ids);
    const paidAgain = await listRepeatedPayments(tx, accountId, ids);
    const events = allocated.flatMap((one) => {
      const { expectedPaymentId, allocatedCents, operationId, kind } = one;
      const end = settlementOf(one);
      const part = { ...line, amountCents: allocatedCents };
      const isOf = (row: { expectedPaymentId: string }) =>
        row.expectedPaymentId === expectedPaymentId;
      const charge = charges.find(isOf);
      if (charge) {
        const payment = { ...one, nsu: line.nsu };
        const isPayment = end.role === 'payment';
        const settlement = isPayment
          ? settlementNetOfRefunds({ ...payment, ...end }, paidAgain)
          : end.settlement;
        return [chargeEvent(part, charge, settlement)];
      }
      const operation = { operationId, kind, operationState: one.operationState };
      return movementEvent(part, { operation, ...end }, transfers.find(isOf)) ?? [];
    });
    await this.events.record(tx, accountId, events);
  }
}

/** Throws `conflict` while a refund of the line, or of the break, is in progress. */
export async function assertNoRefundInProgress(
  tx: Tx,
  accountId: number,
  of: { breakId: string } | { nsu: bigint },
): Promise<void> {
  if (await isRefundInProgress(tx, accountId, of))
    throw new AppError('conflict', {
      public: 'A refund of the money is in progress; try again when its outcome is known.',
      reason: 'refund_under_way',
    });
}

type EarlierMatch = Pick<queries.ManualMatch, 'expectedPaymentId' | 'amountCents'> & {
  role: string;
};

function isSameMatch(
  earlier: EarlierMatch,
  { expectedPaymentId, role, allocatedCents }: Allocated,
): boolean {
  const isSame = earlier.expectedPaymentId === expectedPaymentId && earlier.role === role;
  return isSame && earlier.amountCents === allocatedCents;
}

function settlementOf(one: Allocated) {
  const { role, allocatedCents, paidCents, reversedCents, owedCents, isMultiUse } = one;
  if (role === 'reversal') {
    const isFull = reversedCents + allocatedCents >= paidCents;
    const settlement = reversalSettlement({ isCredit: one.isCredit, isFull });
    return { role, settlement } as const;
  }
  const terms = { amountCents: owedCents, isMultiUse };
  return { role, settlement: settlementOfPaidAmount(terms, paidCents + allocatedCents) } as const;
}

/** Only money that was paid can be reversed, and no more than was paid. */
function assertReversible(
  { paidCents, reversedCents }: queries.ManualMatchExpected,
  allocatedCents: bigint,
): void {
  if (paidCents === 0n)
    throw broken(
      'direction_differs',
      'The line and the expected payment must have the same direction, unless it reverses a payment.',
    );
  if (reversedCents + allocatedCents > paidCents)
    throw broken('more_than_paid', 'Reversals must not exceed the amount paid.');
}

function assertPayable(
  { isCredit, amountCents, paidCents }: queries.ManualMatchExpected,
  line: queries.ManualMatchLine,
  allocatedCents: bigint,
): void {
  if (line.refundedPartCents >= line.amountCents)
    throw broken('already_refunded', 'The line is fully refunded and can pay nothing.');
  // Money sent is debited once, in full; a payer may pay in parts or too much.
  if (!isCredit && amountCents !== null && paidCents + allocatedCents > amountCents)
    throw broken('already_paid', 'Debits must not exceed the amount sent.');
}

function broken(reason: string, text: string): AppError {
  return new AppError('rule_broken', { public: text, reason });
}

/** Enqueues the jobs that follow a person's action; called after its commit. */
@Injectable()
export class ManualMatchJobs {
  constructor(
    private readonly events: EventsService,
    private readonly jobQueue: JobQueue,
  ) {}

  async enqueueAfterCommit(accountId: number, operationIds: string[]): Promise<void> {
    await this.events.enqueueDeliveries(accountId);
    await this.jobQueue.enqueue('reconcile', { accountId });
    for (const operationId of operationIds)
      await this.jobQueue.enqueue('advanceOperation', { accountId, operationId });
  }
}
