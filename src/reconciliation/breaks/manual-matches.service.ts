// Makes and undoes manual matches under the reconciliation lock, so that no batch decides the line
// meanwhile. No rule displaces a manual match. No rule links a pair again that a person has
// unlinked.
import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import type { Tx } from '../../platform/postgres/database.service.js';
import type { Prisma } from '../../generated/service/client.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import type { PixLine } from '../../statement/expected-payments/refunds-of-pix.js';
import { lockReconciliation, readDecidedUntil } from '../apply/decision-writer.queries.js';
import type { DecisionMaker, ManualLink, RefundedPart } from '../decide/model.js';
import { subjectOfExpected, subjectOfLine } from '../decide/break-kinds.js';
import { ReconciliationService } from '../apply/reconciliation.service.js';
import { insertBreakHistoryEntry } from './break-actions.queries.js';
import type { allocations, refundOf } from './breaks.schema.js';
import { isRefundInProgress, lockBreaksOfLine } from './break-refunds.queries.js';
import * as queries from './manual-matches.queries.js';
import {
  listLinkedOriginals,
  listOriginalsOfPayments,
  listPayingCredits,
  lockLines,
} from './refund-links.queries.js';
import {
  assertNamesNoOther,
  assertNoRefundUnderWay,
  assertRefunds,
  inferOriginals,
  maxCompared,
  readShownRefundCents,
} from './refund-links.service.js';

export interface Link {
  nsu: bigint;
  /** Without an amount: the whole line. */
  allocations: { expectedPaymentId: string; amountCents: bigint | null }[];
  /** What a debit refunds, in place of allocations. */
  refundOf?: RefundedPart[];
}

interface RequestedLink {
  allocations?: z.output<typeof allocations> | undefined;
  refundOf?: z.output<typeof refundOf> | undefined;
}

/** The parts of a request, with the names that amounts have inside. */
export function toParts({
  allocations: allocated = [],
  refundOf: refunded = [],
}: RequestedLink): Omit<Link, 'nsu'> {
  return {
    allocations: allocated.map(({ amount: amountCents, ...one }) => ({ ...one, amountCents })),
    refundOf: refunded.map(({ nsu: originalNsu, amount: amountCents, expectedPaymentId }) => ({
      ...{ originalNsu, amountCents },
      expectedPaymentId: expectedPaymentId?.toLowerCase() ?? null,
    })),
  };
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
   * Links a line to expected payments, or a debit to what it refunds; its automatic matches end.
   * Throws `not_found`, `rule_broken`, and `conflict` if a person has linked the line already, or
   * while a refund of the money is under way.
   */
  async link(
    tx: Tx,
    accountId: number,
    link: Link,
    decidedBy: DecisionMaker,
    from: { id: string; detail: Prisma.InputJsonObject } | null = null,
  ): Promise<Linked> {
    const { nsu } = link;
    await lockReconciliation(tx, accountId);
    const { decidedArrival } = await readDecidedUntil(tx, accountId);
    const where = { accountId_nsu: { accountId, nsu } };
    const line = await tx.statementLine.findUnique({ where });
    if (!line) throw new AppError('not_found');
    if (line.arrival > decidedArrival)
      throw conflict(
        'line_is_pending',
        'The line is new and not decided yet; try again in a moment.',
      );
    if (await queries.isLinkedManually(tx, accountId, nsu))
      throw conflict('line_is_linked', 'The line is already linked manually; unlink it first.');
    await this.lockFor(tx, accountId, link);
    const { allocations, refundOf } = await this.partsOf(tx, accountId, line, link);
    const ids = allocations.map(({ expectedPaymentId }) => expectedPaymentId);
    const ofPayments = await listOriginalsOfPayments(tx, accountId, ids);
    const originals = [...refundOf.map(({ originalNsu }) => originalNsu), ...ofPayments];
    const refundable = line.isCredit ? [nsu] : originals;
    await lockBreaksOfLine(tx, accountId, nsu);
    await assertNoRefundInProgress(tx, accountId, { nsu });
    await assertNoRefundUnderWay(tx, accountId, refundable, ids);
    await queries.insertLineDecision(tx, accountId, 'link', {
      ...{ nsu, allocations, refundOf, decidedBy },
    });
    const breakIds = await queries.listLinkedBreaks(tx, accountId, nsu, from?.id ?? null);
    const detail = { nsu: nsu.toString(), ...from?.detail };
    for (const id of breakIds)
      await insertBreakHistoryEntry(tx, accountId, id, 'link', decidedBy, detail);
    const seeds = { nsus: [nsu, ...originals], expectedPaymentIds: ids };
    const operationIds = await this.reconciliation.decideNow(tx, accountId, seeds);
    const matchIds = (await queries.listLiveMatches(tx, accountId, nsu)).map(({ id }) => id);
    return { matchIds, operationIds };
  }

  /** Locks the lines of a link, before its caller locks anything that comes after lines. */
  async lockFor(
    tx: Tx,
    accountId: number,
    { nsu, allocations, refundOf = [] }: Link,
  ): Promise<void> {
    const ids = allocations.map(({ expectedPaymentId }) => expectedPaymentId);
    const paying = await listPayingCredits(tx, accountId, ids);
    await lockLines(tx, accountId, [
      ...[nsu, ...refundOf.map(({ originalNsu }) => originalNsu)],
      ...paying.slice(0, maxCompared).map((line) => line.nsu),
      ...(await listOriginalsOfPayments(tx, accountId, ids)),
    ]);
  }

  /**
   * Unlinks all matches of the line, since they sum to it, and what it was linked to refund. The
   * line is decided again; no rule and no reference makes the same matches again. Throws
   * `conflict` if it is unlinked already, or while a refund of the money is under way.
   */
  async unlink(
    tx: Tx,
    accountId: number,
    { nsu, matchId }: { nsu: bigint; matchId: string | null },
    decidedBy: DecisionMaker,
  ): Promise<Linked> {
    await lockReconciliation(tx, accountId);
    const live = await queries.listLiveMatches(tx, accountId, nsu);
    const linked = await listLinkedOriginals(tx, accountId, nsu);
    const isLive =
      matchId === null ? live.length + linked.length > 0 : live.some(({ id }) => id === matchId);
    if (!isLive) throw conflict('already_unlinked', 'The match is already unlinked.');
    const expected = [...new Set(live.map(({ expectedPaymentId }) => expectedPaymentId))];
    const originals = [...linked, ...(await listOriginalsOfPayments(tx, accountId, expected))];
    await lockLines(tx, accountId, [nsu, ...originals]);
    await assertNoRefundUnderWay(tx, accountId, [nsu, ...originals]);
    await queries.insertLineDecision(tx, accountId, 'unlink', {
      ...{ nsu, allocations: live, refundOf: [], decidedBy },
    });
    const subjects = [subjectOfLine(nsu), ...expected.map(subjectOfExpected)];
    for (const breakId of await queries.resetLinkedBreaks(tx, accountId, nsu, subjects))
      await insertBreakHistoryEntry(tx, accountId, breakId, 'unlink', decidedBy, {
        nsu: nsu.toString(),
      });
    const seeds = { nsus: [nsu, ...originals], expectedPaymentIds: expected };
    const operationIds = await this.reconciliation.decideNow(tx, accountId, seeds, {
      nsu,
      ...decidedBy,
    });
    return { matchIds: live.map(({ id }) => id), operationIds };
  }

  /**
   * What the link says: the payments of the line, or what the debit refunds. A debit that is linked
   * to a charge refunds what paid the charge.
   */
  private async partsOf(
    tx: Tx,
    accountId: number,
    line: PixLine,
    link: Link,
  ): Promise<Pick<ManualLink, 'allocations' | 'refundOf'>> {
    const { refundOf: named = [] } = link;
    if (named.length > 0) {
      if (line.isCredit) throw directionDiffers();
      await assertRefunds(tx, accountId, line, named);
      return { allocations: [], refundOf: named };
    }
    const allocated = await this.allocate(tx, accountId, line, link.allocations);
    const refunding = allocated.filter(({ isRefund }) => isRefund);
    const others = allocated.filter(({ isRefund }) => !isRefund);
    const refundOf = await inferOriginals(tx, accountId, line, refunding);
    if (refundOf.length > 0) await assertRefunds(tx, accountId, line, refundOf, others);
    const ids = others.map(({ expectedPaymentId }) => expectedPaymentId);
    const ofOwn = await listOriginalsOfPayments(tx, accountId, ids);
    if (ofOwn.length > 0) {
      const lines = await tx.statementLine.findMany({
        where: { accountId, nsu: { in: ofOwn } },
        select: { nsu: true, endToEndId: true },
      });
      await assertNamesNoOther(tx, accountId, line, lines);
    }
    return { allocations: others, refundOf };
  }

  private async allocate(
    tx: Tx,
    accountId: number,
    line: PixLine,
    allocations: Link['allocations'],
  ): Promise<(ManualLink['allocations'][number] & { isRefund: boolean })[]> {
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
    const refundedCents = line.isCredit ? await readShownRefundCents(tx, accountId, line) : 0n;
    const expected = await queries.listManualMatchExpected(tx, accountId, line.nsu, ids);
    const byId = new Map(expected.map((one) => [one.expectedPaymentId, one]));
    return ids.map((id, index) => {
      const one = byId.get(id);
      if (!one) throw new AppError('not_found');
      const allocatedCents = cents[index] ?? 0n;
      const role = one.isCredit === line.isCredit ? 'payment' : 'reversal';
      const isRefund = role === 'reversal' && !line.isCredit;
      if (role === 'reversal') assertReversible(one, isRefund ? 0n : allocatedCents);
      else assertPayable(one, line, { allocatedCents, refundedCents });
      return {
        ...{ expectedPaymentId: one.expectedPaymentId, amountCents: allocatedCents },
        isRefund,
      };
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

/**
 * Only money that was paid can be reversed, and no more than was sent. A refund of more than was
 * received is a break.
 */
function assertReversible(
  { paidCents, reversedCents }: queries.ManualMatchExpected,
  allocatedCents: bigint,
): void {
  if (paidCents === 0n) throw directionDiffers();
  if (reversedCents + allocatedCents > paidCents)
    throw ruleBroken('more_than_paid', 'Reversals must not exceed the amount paid.');
}

const directionDiffers = () =>
  ruleBroken(
    'direction_differs',
    'The line and the expected payment must have the same direction, unless it reverses a payment.',
  );

function assertPayable(
  { isCredit, amountCents, paidCents }: queries.ManualMatchExpected,
  line: PixLine,
  { allocatedCents, refundedCents }: { allocatedCents: bigint; refundedCents: bigint },
): void {
  if (refundedCents >= line.amountCents)
    throw ruleBroken('already_refunded', 'The line is fully refunded and can pay nothing.');
  // Money sent is debited once, in full; a payer may pay in parts or too much.
  if (!isCredit && amountCents !== null && paidCents + allocatedCents > amountCents)
    throw ruleBroken('already_paid', 'Debits must not exceed the amount sent.');
}
