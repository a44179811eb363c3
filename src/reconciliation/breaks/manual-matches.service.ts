// Makes and undoes manual matches under the reconciliation lock, so that no batch decides the line
// meanwhile. No rule displaces a manual match. No rule links a pair again that a person has
// unlinked.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Tx } from '../../database.service.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import { lockReconciliation, readDecidedUntil } from '../apply.queries.js';
import type { DecisionMaker, ManualLink } from '../decide/model.js';
import { subjectOfExpected, subjectOfLine } from '../decide/break-kinds.js';
import { ReconciliationService } from '../reconciliation.service.js';
import { insertBreakHistoryEntry } from './break-actions.queries.js';
import type { allocations } from './breaks.schema.js';
import { isRefundInProgress, lockBreaksOfLine } from './break-refunds.queries.js';
import * as queries from './manual-matches.queries.js';

export interface Link {
  nsu: bigint;
  /** Without an amount: the whole line. */
  allocations: { expectedPaymentId: string; amountCents: bigint | null }[];
}

/** The allocations of a request, with the names that amounts have inside. */
export function toAllocations(requested: z.output<typeof allocations>): Link['allocations'] {
  return requested.map(({ amount: amountCents, ...allocation }) => ({
    ...allocation,
    amountCents,
  }));
}

interface Linked {
  matchIds: string[];
  /** Operations without a known outcome that the match proves succeeded. */
  operationIds: string[];
}

@Injectable()
export class ManualMatches {
  constructor(private readonly reconciliation: ReconciliationService) {}

  /**
   * Links a line to expected payments; its automatic matches end. Throws `not_found`,
   * `rule_broken`, and `conflict` if a person has linked the line already.
   */
  async link(
    tx: Tx,
    accountId: number,
    { nsu, allocations }: Link,
    decidedBy: DecisionMaker,
    breakId: string | null = null,
  ): Promise<Linked> {
    await lockReconciliation(tx, accountId);
    const { decidedArrival } = await readDecidedUntil(tx, accountId);
    const line = await queries.findManualMatchLine(tx, accountId, nsu);
    if (!line) throw new AppError('not_found');
    if (line.arrival > decidedArrival)
      throw conflict(
        'line_is_pending',
        'The line is new and not decided yet; try again in a moment.',
      );
    if (line.hasManualMatch)
      throw conflict('line_is_linked', 'The line is already linked manually; unlink it first.');
    await lockBreaksOfLine(tx, accountId, nsu);
    await assertNoRefundInProgress(tx, accountId, { nsu });
    const allocated = await this.allocate(tx, accountId, { nsu, ...line }, allocations);
    const ids = allocated.map(({ expectedPaymentId }) => expectedPaymentId);
    await queries.insertLineDecision(tx, accountId, 'link', {
      nsu,
      allocations: allocated,
      decidedBy,
    });
    const breakIds = await queries.listLinkedBreaks(tx, accountId, nsu, breakId);
    const detail = { nsu: nsu.toString() };
    for (const id of breakIds)
      await insertBreakHistoryEntry(tx, accountId, id, 'link', decidedBy, detail);
    const seeds = { nsus: [nsu], expectedPaymentIds: ids };
    const operationIds = await this.reconciliation.decideNow(tx, accountId, seeds);
    const matchIds = (await queries.listLiveMatches(tx, accountId, nsu)).map(({ id }) => id);
    return { matchIds, operationIds };
  }

  /**
   * Unlinks all matches of the line, since they sum to it. The line is decided again; no rule
   * and no reference makes the same matches again. Throws `conflict` if the match is unlinked
   * already.
   */
  async unlink(
    tx: Tx,
    accountId: number,
    { nsu, matchId }: { nsu: bigint; matchId: string },
    decidedBy: DecisionMaker,
  ): Promise<Linked> {
    await lockReconciliation(tx, accountId);
    const live = await queries.listLiveMatches(tx, accountId, nsu);
    if (!live.some(({ id }) => id === matchId))
      throw conflict('already_unlinked', 'The match is already unlinked.');
    await queries.insertLineDecision(tx, accountId, 'unlink', {
      nsu,
      allocations: live,
      decidedBy,
    });
    const expected = [...new Set(live.map(({ expectedPaymentId }) => expectedPaymentId))];
    const subjects = [subjectOfLine(nsu), ...expected.map(subjectOfExpected)];
    for (const breakId of await queries.resetLinkedBreaks(tx, accountId, nsu, subjects))
      await insertBreakHistoryEntry(tx, accountId, breakId, 'unlink', decidedBy, {
        nsu: nsu.toString(),
      });
    const seeds = { nsus: [nsu], expectedPaymentIds: expected };
    const operationIds = await this.reconciliation.decideNow(tx, accountId, seeds, {
      nsu,
      ...decidedBy,
    });
    return { matchIds: live.map(({ id }) => id), operationIds };
  }

  private async allocate(
    tx: Tx,
    accountId: number,
    line: queries.ManualMatchLine & { nsu: bigint },
    allocations: Link['allocations'],
  ): Promise<ManualLink['allocations']> {
    const ids = allocations.map(({ expectedPaymentId }) => expectedPaymentId.toLowerCase());
    if (new Set(ids).size < ids.length)
      throw ruleBroken(
        'allocations_differ',
        'Each expected payment must occur once in allocations.',
      );
    const cents = allocations.map(({ amountCents }) => amountCents ?? line.amountCents);
    if (cents.reduce((sum, one) => sum + one, 0n) !== line.amountCents)
      throw ruleBroken(
        'allocations_differ',
        'The amounts of the allocations must sum to the amount of the line.',
      );
    const expected = await queries.listManualMatchExpected(tx, accountId, line.nsu, ids);
    const byId = new Map(expected.map((one) => [one.expectedPaymentId, one]));
    return ids.map((id, index) => {
      const one = byId.get(id);
      if (!one) throw new AppError('not_found');
      const allocatedCents = cents[index] ?? 0n;
      const role = one.isCredit === line.isCredit ? 'payment' : 'reversal';
      if (role === 'reversal') assertReversible(one, allocatedCents);
      else assertPayable(one, line, allocatedCents);
      return { expectedPaymentId: one.expectedPaymentId, amountCents: allocatedCents };
    });
  }
}

/** Throws `conflict` while a refund of the line, or of the break, is in progress. */
export async function assertNoRefundInProgress(
  tx: Tx,
  accountId: number,
  of: { breakId: string } | { nsu: bigint },
): Promise<void> {
  if (await isRefundInProgress(tx, accountId, of))
    throw conflict(
      'refund_under_way',
      'A refund of the money is in progress; try again when its outcome is known.',
    );
}

/** Only money that was paid can be reversed, and no more than was paid. */
function assertReversible(
  { paidCents, reversedCents }: queries.ManualMatchExpected,
  allocatedCents: bigint,
): void {
  if (paidCents === 0n)
    throw ruleBroken(
      'direction_differs',
      'The line and the expected payment must have the same direction, unless it reverses a payment.',
    );
  if (reversedCents + allocatedCents > paidCents)
    throw ruleBroken('more_than_paid', 'Reversals must not exceed the amount paid.');
}

function assertPayable(
  { isCredit, amountCents, paidCents }: queries.ManualMatchExpected,
  line: queries.ManualMatchLine,
  allocatedCents: bigint,
): void {
  if (line.refundedPartCents >= line.amountCents)
    throw ruleBroken('already_refunded', 'The line is fully refunded and can pay nothing.');
  // Money sent is debited once, in full; a payer may pay in parts or too much.
  if (!isCredit && amountCents !== null && paidCents + allocatedCents > amountCents)
    throw ruleBroken('already_paid', 'Debits must not exceed the amount sent.');
}
