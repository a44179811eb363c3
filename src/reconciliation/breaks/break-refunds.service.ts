// Refunds the received Pix of a break once, for any number of requests by any caller. The
// transaction that creates the operation checks that the refund still applies, and records the
// request in the history. Only the statement line of the refund resolves the break.
import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { Database, type Tx } from '../../platform/postgres/database.service.js';
import { insertFacts } from '../../statement/expected-payments/expected-payments.queries.js';
import { noPreferences, type Requester } from '../../outbound/operations/operation.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import { RefundsService } from '../../outbound/refunds/refunds.service.js';
import { lockReconciliation } from '../apply/decision-writer.queries.js';
import { ReconciliationService } from '../apply/reconciliation.service.js';
import { lockBreak, insertBreakHistoryEntry, type LockedBreak } from './break-actions.queries.js';
import { refundOfKind } from '../decide/break-kinds.js';
import * as queries from './break-refunds.queries.js';
import { lockLines } from './refund-links.queries.js';
import type { DecisionMaker } from '../decide/model.js';
import { versionOfBreak } from './break-version.js';
import { isStillPolicyRefundable } from './refund-policies.queries.js';

export interface BreakRefundRequest extends DecisionMaker {
  /** Null: the break's amount, if nothing of the Pix has been refunded yet. */
  amountCents: bigint | null;
  /** The maker, who cannot approve the refund: of an automatic one, the key that set its policy. */
  requestedBy: Requester;
  /** The version of the break that the person saw; null if it is not compared. */
  seen?: string | null;
}

/** Throws `conflict` if the break is not as the person saw it. Without a version, it may be. */
export function assertSeen(found: LockedBreak, seen: string | null): void {
  if (seen !== null && versionOfBreak(found) !== seen) throw breakChanged();
}

/** A request for a refund, and the break that it is about. */
interface RefundOf {
  accountId: number;
  /** Of the break. */
  id: string;
  request: BreakRefundRequest;
}

/** The refund that a request leads to. */
interface PlannedRefund {
  nsu: bigint;
  expectedPaymentId: string | null;
  /** The idempotency key of the refund. */
  key: string;
  amountCents: bigint;
  /** The amount of the break. */
  ofCents: bigint;
  /** The refund was requested before and has not ended. */
  isRepeat: boolean;
}

@Injectable()
export class BreakRefunds {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /**
   * Throws `not_found`; `conflict` if the break is resolved otherwise, or changes meanwhile;
   * `rule_broken` if the break has no Pix, the Pix is fully refunded, or the bank refuses.
   */
  async refund(accountId: number, id: string, request: BreakRefundRequest): Promise<void> {
    const of = { accountId, id, request };
    const planned = await this.database.transaction((tx) => this.plan(tx, of));
    if (planned === null) return;
    const { nsu, key, amountCents: amount, isRepeat } = planned;
    let operationIds: string[] = [];
    try {
      await this.refunds.refund(
        accountId,
        {
          params: { transactionId: nsu.toString() },
          query: { filterBy: 'NSU' },
          body: { amount },
          idempotencyKey: key,
        },
        { ...noPreferences, requestedBy: request.requestedBy },
        {
          onlyIfUnrefunded: request.amountCents === null && !isRepeat,
          assertApplies: async (tx) => {
            operationIds = await this.requestIfUnchanged(tx, of, planned);
          },
        },
      );
    } catch (error) {
      if (error instanceof AppError && isRefusal(error))
        await this.recordRefusal(of, planned, { reason: error.details.reason ?? error.code });
      throw error;
    }
    await this.settle(of, planned);
    await this.reconciliation.enqueueAfterAction(accountId, operationIds);
  }

  /** The amount that would be refunded; null if there is nothing to do. Throws as `refund`. */
  async findAmount(
    accountId: number,
    id: string,
    request: BreakRefundRequest,
  ): Promise<bigint | null> {
    const of = { accountId, id, request };
    const planned = await this.database.transaction((tx) => this.plan(tx, of));
    return planned?.amountCents ?? null;
  }

  /**
   * Withdraws the refund whose `missing` break a person accepts. The Pix can then be refunded
   * again; a debit that still comes is a `late_line`.
   */
  async withdrawMissing(tx: Tx, accountId: number, found: LockedBreak): Promise<void> {
    const ids = await queries.listUnseenRefunds(tx, accountId, found);
    await insertFacts(tx, accountId, { ids }, 'given_up');
  }

  /** Expects the withdrawn refund again. */
  async reinstateMissing(tx: Tx, accountId: number, found: LockedBreak): Promise<void> {
    const ids = await queries.listUnseenRefunds(tx, accountId, found);
    await insertFacts(tx, accountId, { ids }, 'expected_again');
  }

  /**
   * The refund to request now. Null if a refund has already resolved the break, or the policy no
   * longer applies to the break.
   */
  private async plan(tx: Tx, { accountId, id, request }: RefundOf): Promise<PlannedRefund | null> {
    await lockReconciliation(tx, accountId);
    const found = await lockBreak(tx, accountId, id);
    if (!found) throw new AppError('not_found');
    if (found.state === 'resolved') {
      if (found.resolution === 'refund') return null;
      throw conflict('already_resolved', 'The break is already resolved.');
    }
    assertSeen(found, request.seen ?? null);
    // A note, a link and a policy change take the same locks, so all earlier actions are visible
    // here.
    if (request.actor === 'policy' && !(await isStillPolicyRefundable(tx, accountId, found)))
      return null;
    const { nsu, wholeCents } = await this.findRefundablePix(tx, accountId, found, request);
    const { key, before } = await this.findRefundKey(tx, accountId, id);
    if (before && request.amountCents !== null && request.amountCents !== before.amountCents)
      throw conflict('refund_under_way', 'A refund of another amount is in progress.');
    const amountCents =
      request.amountCents ?? before?.amountCents ?? found.amountCents ?? wholeCents;
    const { expectedPaymentId } = found;
    const ofCents = found.amountCents ?? wholeCents;
    return { nsu, expectedPaymentId, key, amountCents, ofCents, isRepeat: before !== null };
  }

  /**
   * Records the request in the transaction that creates the operation, if everything is still as
   * planned. Facts may have come since, so what the break is about is decided first. Returns the
   * operations to advance after the commit.
   */
  private async requestIfUnchanged(
    tx: Tx,
    of: RefundOf,
    planned: PlannedRefund,
  ): Promise<string[]> {
    const { nsu, expectedPaymentId } = planned;
    await lockReconciliation(tx, of.accountId);
    await lockLines(tx, of.accountId, [nsu]);
    const operationIds = await this.reconciliation.decideNow(tx, of.accountId, {
      nsus: [nsu],
      expectedPaymentIds: expectedPaymentId === null ? [] : [expectedPaymentId],
    });
    const now = await this.plan(tx, of);
    if (now === null || !isSameRefund(now, planned)) throw breakChanged();
    await this.recordRequest(tx, of, planned);
    return operationIds;
  }

  /** Records the actor's request, unless it is recorded. */
  private async recordRequest(
    tx: Tx,
    { accountId, id, request: { actor, reason } }: RefundOf,
    { key, nsu, amountCents, ofCents }: PlannedRefund,
  ): Promise<void> {
    if (await queries.hasRequestedRefund(tx, accountId, id, key, actor)) return;
    await insertBreakHistoryEntry(
      tx,
      accountId,
      id,
      'refund',
      { actor, reason },
      {
        key,
        nsu: nsu.toString(),
        amountCents: amountCents.toString(),
        ofCents: ofCents.toString(),
      },
    );
  }

  private async findRefundablePix(
    tx: Tx,
    accountId: number,
    { nsu, kind }: LockedBreak,
    { amountCents }: BreakRefundRequest,
  ) {
    const refundable = refundOfKind(kind);
    if (refundable === 'with amount' && amountCents === null)
      throw notRefundable('amount is required: the amount of this break was never received.');
    if (!refundable) throw notRefundable('Breaks of this kind have nothing to refund.');
    const line =
      nsu === null
        ? null
        : await tx.statementLine.findUnique({ where: { accountId_nsu: { accountId, nsu } } });
    if (nsu === null || !line?.isCredit || line.endToEndId === null)
      throw notRefundable('Only a received Pix can be refunded.');
    return { nsu, wholeCents: line.amountCents };
  }

  /**
   * The key of the refund in progress, or the key of the next refund if none is in progress.
   */
  private async findRefundKey(tx: Tx, accountId: number, id: string) {
    for (let ended = 0; ; ended += 1) {
      const key = refundKeyOf(id, ended);
      const before = await queries.findRequestedRefund(tx, accountId, key);
      if (!before || !(before.isOver || before.isShown)) return { key, before };
    }
  }

  /** A request that comes after the resolution of the break would take that resolution back. */
  private async recordRequestIfOpen(tx: Tx, of: RefundOf, planned: PlannedRefund): Promise<void> {
    await lockReconciliation(tx, of.accountId);
    const found = await lockBreak(tx, of.accountId, of.id);
    if (found?.state === 'open') await this.recordRequest(tx, of, planned);
  }

  private async settle(of: RefundOf, planned: PlannedRefund): Promise<void> {
    const { accountId, id, request } = of;
    const made = await queries.findRequestedRefund(this.database.prisma, accountId, planned.key);
    if (!made) return;
    const { operationId, state, isOver } = made;
    if (isOver) {
      await this.recordRefusal(of, planned, { operationId, state });
      throw new AppError('rule_broken', {
        public: 'The bank has refused the refund; its operation contains the reason.',
        reason: 'refund_rejected',
        headers: { Location: `/v1/operations/${operationId}` },
      });
    }
    await this.database.transaction(async (tx) => {
      // Another actor may have created the refund that this request repeats.
      await this.recordRequestIfOpen(tx, of, planned);
      const by = { actor: request.actor, reason: null };
      const detail = { path: ['operationId'], equals: operationId };
      const recorded = await tx.breakHistoryEntry.count({
        where: { accountId, breakId: id, action: 'refund_under_way', detail },
      });
      if (recorded === 0)
        await insertBreakHistoryEntry(tx, accountId, id, 'refund_under_way', by, {
          operationId,
          state,
        });
      const seeds = { nsus: [planned.nsu], expectedPaymentIds: [] };
      await this.reconciliation.decideNow(tx, accountId, seeds);
    });
  }

  /** Records the request and that it was refused. */
  private async recordRefusal(of: RefundOf, planned: PlannedRefund, detail: object): Promise<void> {
    const { accountId, id, request } = of;
    const by = { actor: request.actor, reason: null };
    await this.database.transaction(async (tx) => {
      await this.recordRequestIfOpen(tx, of, planned);
      await insertBreakHistoryEntry(tx, accountId, id, 'refund_refused', by, detail);
    });
  }
}

const refundKeyNamespace = '0d4f3c1e-6f0b-5c57-9c0a-52b1a1b6e6d1';

/**
 * The idempotency key derives from the break, so a person, a policy and their repeats request
 * one refund. `ended`: how many refunds of the break have ended.
 */
function refundKeyOf(breakId: string, ended: number): string {
  return uuidv5(ended === 0 ? breakId : `${breakId} ${ended}`, refundKeyNamespace);
}

function breakChanged(): AppError {
  return conflict('break_changed', 'The break has changed meanwhile: read it and try again.');
}

function notRefundable(text: string): AppError {
  return ruleBroken('not_refundable', text);
}

function isSameRefund(one: PlannedRefund, other: PlannedRefund): boolean {
  return one.nsu === other.nsu && one.key === other.key && one.amountCents === other.amountCents;
}

/** Whether a repeat would be refused again. */
function isRefusal({ code }: AppError): boolean {
  return code === 'rule_broken' || code === 'not_found' || code === 'validation_failed';
}
