// Refunds the received Pix of a break once, for any number of requests by any caller. The history
// records the request before the bank is called, and the bank's acceptance after it. Only the
// statement line of the refund resolves the break.
import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { Database, type Tx } from '../../database.service.js';
import { insertFacts } from '../../expected-payments/expected-payments.queries.js';
import { noPreferences } from '../../operations/operation.js';
import { AppError, conflict, ruleBroken } from '../../platform/errors.js';
import { RefundsService } from '../../refunds/refunds.service.js';
import { lockReconciliation } from '../apply.queries.js';
import { ReconciliationService } from '../reconciliation.service.js';
import { lockBreak, insertBreakHistoryEntry, type LockedBreak } from './break-actions.queries.js';
import { refundOfKind } from '../decide/break-kinds.js';
import * as queries from './break-refunds.queries.js';
import type { DecisionMaker } from '../decide/model.js';
import { isStillPolicyRefundable } from './refund-policies.queries.js';

export interface BreakRefundRequest extends DecisionMaker {
  /** Null: the break's amount, if nothing of the Pix has been refunded yet. */
  amountCents: bigint | null;
}

@Injectable()
export class BreakRefunds {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsService,
    private readonly reconciliation: ReconciliationService,
  ) {}

  /**
   * Throws `not_found`; `conflict` if the break is resolved otherwise; `rule_broken` if the
   * break has no Pix, the Pix is fully refunded, or the bank refuses.
   */
  async refund(accountId: number, id: string, request: BreakRefundRequest): Promise<void> {
    const prepared = await this.database.transaction((tx) =>
      this.prepare(tx, accountId, id, request),
    );
    if (prepared === null) return;
    const { nsu, key, amountCents: amount, isRepeat } = prepared;
    const onlyIfUnrefunded = request.amountCents === null && !isRepeat;
    try {
      await this.refunds.refund(
        accountId,
        {
          params: { transactionId: nsu.toString() },
          query: { filterBy: 'NSU' },
          body: { amount },
          idempotencyKey: key,
        },
        noPreferences,
        { onlyIfUnrefunded },
      );
    } catch (error) {
      if (error instanceof AppError && isRefusal(error))
        await this.recordRefusal(accountId, id, request, {
          reason: error.details.reason ?? error.code,
        });
      throw error;
    }
    await this.settle(accountId, id, request, key);
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
   * Null if a refund has already resolved the break, or the policy no longer applies to the break.
   */
  private async prepare(tx: Tx, accountId: number, id: string, request: BreakRefundRequest) {
    const found = await lockBreak(tx, accountId, id);
    if (!found) throw new AppError('not_found');
    if (found.state === 'resolved') {
      if (found.resolution === 'refund') return null;
      throw conflict('already_resolved', 'The break is already resolved.');
    }
    // A note, a link and a policy change take the same locks, so all earlier actions are visible
    // here.
    if (request.actor === 'policy' && !(await isStillPolicyRefundable(tx, accountId, found)))
      return null;
    const { nsu, wholeCents } = await this.findRefundablePix(tx, accountId, found, request);
    const { key, before } = await this.findRefundKey(tx, accountId, id);
    const isRepeat = before !== null;
    if (before && request.amountCents !== null && request.amountCents !== before.amountCents)
      throw conflict('refund_under_way', 'A refund of another amount is in progress.');
    const amountCents =
      request.amountCents ?? before?.amountCents ?? found.amountCents ?? wholeCents;
    const { actor, reason } = request;
    const detail = {
      key,
      nsu: nsu.toString(),
      amountCents: amountCents.toString(),
      ofCents: (found.amountCents ?? wholeCents).toString(),
    };
    if (!(await queries.hasRequestedRefund(tx, accountId, id, key, actor)))
      await insertBreakHistoryEntry(tx, accountId, id, 'refund', { actor, reason }, detail);
    return { nsu, key, amountCents, isRepeat };
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

  private async settle(
    accountId: number,
    id: string,
    request: BreakRefundRequest,
    key: string,
  ): Promise<void> {
    const { prisma } = this.database;
    const made = await queries.findRequestedRefund(prisma, accountId, key);
    if (!made) return;
    const { operationId, state, isOver } = made;
    if (isOver) {
      await this.recordRefusal(accountId, id, request, { operationId, state });
      throw new AppError('rule_broken', {
        public: 'The bank has refused the refund; its operation contains the reason.',
        reason: 'refund_rejected',
        headers: { Location: `/v1/operations/${operationId}` },
      });
    }
    await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      const found = await lockBreak(tx, accountId, id);
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
      const nsus = found?.nsu == null ? [] : [found.nsu];
      await this.reconciliation.decideNow(tx, accountId, { nsus, expectedPaymentIds: [] });
    });
  }

  private async recordRefusal(
    accountId: number,
    id: string,
    { actor }: BreakRefundRequest,
    detail: object,
  ): Promise<void> {
    await this.database.transaction((tx) =>
      insertBreakHistoryEntry(tx, accountId, id, 'refund_refused', { actor, reason: null }, detail),
    );
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

function notRefundable(text: string): AppError {
  return ruleBroken('not_refundable', text);
}

/** Whether a repeat would be refused again. */
function isRefusal({ code }: AppError): boolean {
  return code === 'rule_broken' || code === 'not_found' || code === 'validation_failed';
}
