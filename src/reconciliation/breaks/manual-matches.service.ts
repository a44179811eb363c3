// Matches that a person makes and undoes, under the lock of the judgement: nobody judges the line meanwhile. What a hand
// linked no rule displaces, and what it unlinked none links again.
import { Injectable } from '@nestjs/common';
import { saoPauloDay } from '../../brazil/statement-day.js';
import type { Tx } from '../../database.service.js';
import { EventsService } from '../../events/events.service.js';
import { ExpectedPaymentsService } from '../../expected-payments/expected-payments.service.js';
import { owedCentsWhenPaid, settlementOfPaidAmount } from '../../expected-payments/settlement.js';
import { AppError } from '../../platform/errors.js';
import { subjectOfExpected, subjectOfLine } from '../line-outcome.js';
import { Breaks } from '../breaks.service.js';
import { chargeEvent } from '../line-events.js';
import { resolveReversed } from '../breaks.queries.js';
import { movementEvent } from '../movement-events.js';
import { listRepeatedPayments } from '../repeated-payments.queries.js';
import { deferOwnTransferCredits } from '../own-transfers.queries.js';
import { isRefundInProgress, lockBreaksOfLine } from '../refunded-breaks.queries.js';
import { touchRules } from '../rules/rules.queries.js';
import { unlinkSurplusReversals } from '../unlinking.queries.js';
import { SettlementReview } from '../settlement-review.service.js';
import { settlementNetOfRefunds } from '../net-settlement.js';
import * as outcomes from '../outcomes.queries.js';
import { resolveLineBreaks, writeEntry } from './break-actions.queries.js';
import * as queries from './manual-matches.queries.js';

export interface Allocation {
  expectedPaymentId: string;
  /** Null: all of the line. */
  amountCents: bigint | null;
}

export interface Link {
  nsu: bigint;
  allocations: Allocation[];
}

export interface Linked {
  matchIds: string[];
  /** Operations of which nobody knew that they were done. */
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
   * The line pays just this; what a rule or id had matched it to gives way. Throws `not_found`, `rule_broken`, and `conflict`
   * where a person linked it before.
   */
  async link(
    tx: Tx,
    accountId: number,
    { nsu, allocations }: Link,
    hand: queries.Hand,
  ): Promise<Linked> {
    const decidedArrival = await outcomes.lockReconciliation(tx, accountId);
    const line = await queries.findManualMatchLine(tx, accountId, nsu);
    if (!line) throw new AppError('not_found');
    if (line.arrival > decidedArrival)
      throw new AppError('conflict', {
        public: 'The line has just come and is being judged: ask again in a moment.',
        reason: 'line_is_pending',
      });
    if (line.hasManualMatch)
      throw new AppError('conflict', {
        public: 'The line was linked by hand before: unlink it first.',
        reason: 'line_is_linked',
      });
    await lockBreaksOfLine(tx, accountId, nsu);
    await assertNoRefundUnderWay(tx, accountId, { nsu });
    const allocated = await this.allocate(tx, accountId, line, allocations);
    const { reason } = hand;
    const before = await queries.unlinkLine(tx, accountId, nsu, { actor: null, reason });
    await queries.deleteOtherOutcomes(tx, accountId, nsu);
    const matchIds = await queries.insertManualMatches(
      tx,
      accountId,
      nsu,
      allocated.map((one) => ({ ...one, amountCents: one.allocatedCents })),
      hand,
    );
    const linked = allocated.map(({ expectedPaymentId }) => expectedPaymentId);
    const paid = allocated.filter(({ role }) => role === 'payment');
    await this.reinstate(tx, accountId, paid);
    const resolved = await resolveLineBreaks(tx, accountId, nsu, 'link', hand);
    const returned = await resolveReversed(tx, accountId, linked);
    await this.breaks.reportResolved(tx, accountId, [...resolved, ...returned]);
    const come = paid.map(({ expectedPaymentId }) => subjectOfExpected(expectedPaymentId));
    await this.breaks.resolve(tx, accountId, 'missing', come);
    // What the line was matched to before was told then.
    const fresh = allocated.filter((one) => !before.some((known) => isAlike(known, one)));
    await this.reportOf(tx, accountId, line, fresh);
    if (paid.length > 0) await deferOwnTransferCredits(tx, accountId, [nsu]);
    const gaveWay = before.map(({ expectedPaymentId }) => expectedPaymentId);
    await this.reviewWith(tx, accountId, gaveWay, linked);
    await touchRules(tx, accountId);
    const undecided = paid.filter(({ operationState }) => undecidedStates.includes(operationState));
    return { matchIds, operationIds: undecided.map(({ operationId }) => operationId) };
  }

  /**
   * The line's matches end, all of them: they add up to it. It is judged again, and no rule or id matches it to the same
   * again. Throws `conflict` where the match has ended.
   */
  async unlink(
    tx: Tx,
    accountId: number,
    {
      nsu,
      matchId,
      isReconsidered = true,
    }: { nsu: bigint; matchId: string; isReconsidered?: boolean },
    hand: queries.Hand,
  ): Promise<string[]> {
    await outcomes.lockReconciliation(tx, accountId);
    const unlinked = await queries.unlinkLine(tx, accountId, nsu, hand);
    if (!unlinked.some(({ id }) => id === matchId))
      throw new AppError('conflict', {
        public: 'The match was unlinked before.',
        reason: 'already_unlinked',
      });
    const expected = [...new Set(unlinked.map(({ expectedPaymentId }) => expectedPaymentId))];
    const subjects = [subjectOfLine(nsu), ...expected.map(subjectOfExpected)];
    for (const breakId of await queries.freeLinkedBreaks(tx, accountId, nsu, subjects))
      await writeEntry(tx, accountId, breakId, 'unlink', hand, { nsu: nsu.toString() });
    if (isReconsidered) await outcomes.recordPendingLines(tx, accountId, [], [nsu]);
    await this.reviewWith(tx, accountId, expected);
    await touchRules(tx, accountId);
    return unlinked.map(({ id }) => id);
  }

  /** Of these matches were undone: what came back of what is not paid any more is judged again. */
  private async reviewWith(
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
      throw broken('allocations_differ', 'An expected payment is named twice.');
    const cents = allocations.map(({ amountCents }) => amountCents ?? line.amountCents);
    if (cents.reduce((sum, one) => sum + one, 0n) !== line.amountCents)
      throw broken('allocations_differ', 'The amounts do not add up to the line.');
    const expected = await queries.listManualMatchExpected(tx, accountId, line.nsu, ids);
    const byId = new Map(expected.map((one) => [one.expectedPaymentId, one]));
    const day = saoPauloDay(line.occurredAt);
    return ids.map((id, place) => {
      const one = byId.get(id);
      if (!one) throw new AppError('not_found');
      const allocatedCents = cents[place] ?? 0n;
      const role = one.isCredit === line.isCredit ? 'payment' : 'reversal';
      if (role === 'reversal') assertReturnable(one, allocatedCents);
      else assertPayable(one, line, allocatedCents);
      const owedCents =
        role === 'reversal' ? null : owedCentsWhenPaid(one, one.paidCents + allocatedCents, day);
      return { ...one, allocatedCents, owedCents, role } as Allocated;
    });
  }

  /** The statement shows what nothing was to come of any more. */
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

  /** In the words of the judge: who waits for the money need not know whose hand found it. */
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
    const told = allocated.flatMap((one) => {
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
    await this.events.record(tx, accountId, told);
  }
}

/** Throws `conflict` while money of the line, or the break, may be on its way back. */
export async function assertNoRefundUnderWay(
  tx: Tx,
  accountId: number,
  of: { breakId: string } | { nsu: bigint },
): Promise<void> {
  if (await isRefundInProgress(tx, accountId, of))
    throw new AppError('conflict', {
      public: 'A refund of the money is under way: ask again once its end is known.',
      reason: 'refund_under_way',
    });
}

type Told = Pick<queries.ManualMatch, 'expectedPaymentId' | 'amountCents'> & { role: string };

function isAlike(known: Told, { expectedPaymentId, role, allocatedCents }: Allocated): boolean {
  const isSame = known.expectedPaymentId === expectedPaymentId && known.role === role;
  return isSame && known.amountCents === allocatedCents;
}

function settlementOf(one: Allocated) {
  const { role, allocatedCents, paidCents, reversedCents, owedCents, isMultiUse } = one;
  if (role === 'reversal') {
    const isWhole = reversedCents + allocatedCents >= paidCents;
    if (one.isCredit)
      return { role, settlement: isWhole ? 'refunded' : 'partially_refunded' } as const;
    return { role, settlement: isWhole ? 'reversed' : 'partially_reversed' } as const;
  }
  const terms = { amountCents: owedCents, isMultiUse };
  return { role, settlement: settlementOfPaidAmount(terms, paidCents + allocatedCents) } as const;
}

/** What comes back was there before. */
function assertReturnable(
  { paidCents, reversedCents }: queries.ManualMatchExpected,
  allocatedCents: bigint,
): void {
  if (paidCents === 0n)
    throw broken('direction_differs', 'One is money that comes in, the other money that goes out.');
  if (reversedCents + allocatedCents > paidCents)
    throw broken('more_than_paid', 'More than was paid cannot have come back.');
}

function assertPayable(
  { isCredit, amountCents, paidCents }: queries.ManualMatchExpected,
  line: queries.ManualMatchLine,
  allocatedCents: bigint,
): void {
  if (line.gonePartCents >= line.amountCents)
    throw broken('already_refunded', 'All of it has gone back: nothing of it is left to pay with.');
  // What we send goes out once, in full; what comes in may come as its payer likes.
  if (!isCredit && amountCents !== null && paidCents + allocatedCents > amountCents)
    throw broken('already_paid', 'More than what was sent cannot have been debited for it.');
}

function broken(reason: string, text: string): AppError {
  return new AppError('rule_broken', { public: text, reason });
}
