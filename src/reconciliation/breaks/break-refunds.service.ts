// Gives back the received Pix of a break: once, however often and by whomever it is asked for. What is asked for is
// written down before the bank is asked; that it took it, too; and only the statement, when it shows it, settles the break.
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../../database.service.js';
import { ExpectedPaymentsService } from '../../expected-payments/expected-payments.service.js';
import { noPreferences } from '../../operations/operation.js';
import { AppError } from '../../platform/errors.js';
import { RefundsService } from '../../refunds/refunds.service.js';
import { listUnseenRefunds } from '../refunded-breaks.queries.js';
import { RefundedBreaks } from '../refunded-breaks.service.js';
import { lockReconciliation } from '../outcomes.queries.js';
import { lockBreak, writeEntry, type LockedBreak } from './break-actions.queries.js';
import * as queries from './break-refunds.queries.js';
import type { Hand } from './manual-matches.queries.js';
import { refundKeyOf } from './refund-key.js';
import { isTheirsStill } from './refund-policies.queries.js';

export interface AskedBy extends Hand {
  /** Null: what the break is about, of a Pix of which nothing has gone back. */
  amountCents: bigint | null;
}

/** Breaks about money that came and should perhaps not stay. */
const refundableKinds = [
  'unexpected',
  'ambiguous',
  'duplicate_payment',
  'overpaid',
  'paid_after_cancellation',
  'paid_after_expiry',
];
/** Its amount is what did not come: how much is to go back must be said. */
const underpaid = 'underpaid';
const missing = 'missing';

interface Prepared {
  nsu: bigint;
  key: string;
  amountCents: bigint;
  isRepeat: boolean;
}

@Injectable()
export class BreakRefunds {
  constructor(
    private readonly database: Database,
    private readonly refunds: RefundsService,
    private readonly refunded: RefundedBreaks,
    private readonly expectedPayments: ExpectedPaymentsService,
  ) {}

  /**
   * Throws `not_found`, `conflict` where the break is settled otherwise, and `rule_broken` where there is no Pix, nothing
   * is left of it, or the bank refuses.
   */
  async refund(accountId: number, id: string, asked: AskedBy): Promise<void> {
    const prepared = await this.database.transaction((tx) =>
      this.prepare(tx, accountId, id, asked),
    );
    if (prepared === null) return;
    const { nsu, key, amountCents: amount, isRepeat } = prepared;
    const onlyIfUnrefunded = asked.amountCents === null && !isRepeat;
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
        await this.noteRefusal(accountId, id, asked, {
          reason: error.details.reason ?? error.code,
        });
      throw error;
    }
    await this.settle(accountId, id, asked, key);
  }

  /**
   * A person accepts that what is missing is given up. A refund among that is over, and its money is to be had again; were it
   * debited after all, that would be a late line.
   */
  async giveUp(tx: Tx, accountId: number, { kind, expectedPaymentId }: LockedBreak): Promise<void> {
    if (kind !== missing) return;
    const ids = await listUnseenRefunds(tx, accountId, expectedPaymentId);
    await this.expectedPayments.withdrawPayments(tx, accountId, ids);
  }

  /** What was given up is waited for again. */
  async waitAgain(
    tx: Tx,
    accountId: number,
    { kind, expectedPaymentId }: LockedBreak,
  ): Promise<void> {
    if (kind !== missing) return;
    const ids = await listUnseenRefunds(tx, accountId, expectedPaymentId);
    await this.expectedPayments.reinstatePayments(tx, accountId, ids);
  }

  /** Settles what the statement has shown since; whether there was any. */
  async settleShown(accountId: number): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      return this.refunded.settle(tx, accountId, null);
    });
  }

  /** Null for a break that its refund has settled, a repeat changes nothing; or that is no policy's any more. */
  private async prepare(
    tx: Tx,
    accountId: number,
    id: string,
    asked: AskedBy,
  ): Promise<Prepared | null> {
    const found = await lockBreak(tx, accountId, id);
    if (!found) throw new AppError('not_found');
    if (found.state === 'resolved') {
      if (found.resolution === 'refund') return null;
      throw new AppError('conflict', {
        public: 'The break is resolved.',
        reason: 'already_resolved',
      });
    }
    // Under the locks that a note, a link and a change of the policy take: what is said before this holds.
    if (asked.actor === 'policy' && !(await isTheirsStill(tx, accountId, found))) return null;
    const { nsu, wholeCents } = await this.pixOf(tx, accountId, found, asked);
    const { key, before } = await this.keyOf(tx, accountId, id);
    const isRepeat = before !== null;
    if (before && asked.amountCents !== null && asked.amountCents !== before.amountCents)
      throw new AppError('conflict', {
        public: 'A refund of another amount is under way.',
        reason: 'refund_under_way',
      });
    const amountCents = asked.amountCents ?? before?.amountCents ?? found.amountCents ?? wholeCents;
    const { actor, reason } = asked;
    const detail = {
      key,
      nsu: nsu.toString(),
      amountCents: amountCents.toString(),
      ofCents: (found.amountCents ?? wholeCents).toString(),
    };
    if (!(await queries.hasAsked(tx, accountId, id, key, actor)))
      await writeEntry(tx, accountId, id, 'refund', { actor, reason }, detail);
    return { nsu, key, amountCents, isRepeat };
  }

  private async pixOf(
    tx: Tx,
    accountId: number,
    { nsu, kind }: LockedBreak,
    { amountCents }: AskedBy,
  ) {
    if (kind === underpaid && amountCents === null)
      throw notRefundable('How much is to go back must be said: what did not come cannot.');
    if (kind !== underpaid && !refundableKinds.includes(kind))
      throw notRefundable('The break is about nothing that could go back.');
    const line = nsu === null ? null : await queries.findLineOf(tx, accountId, nsu);
    if (nsu === null || !line?.isCredit || line.endToEndId === null)
      throw notRefundable('Only a received Pix can be refunded.');
    return { nsu, wholeCents: line.amountCents };
  }

  /** The key of the refund that lives, or of the next: one that was refused, not made, came back or was made is over. */
  private async keyOf(tx: Tx, accountId: number, id: string) {
    for (let ended = 0; ; ended += 1) {
      const key = refundKeyOf(id, ended);
      const before = await queries.findAsked(tx, accountId, key);
      if (!before || !(before.isOver || before.isShown)) return { key, before };
    }
  }

  private async settle(accountId: number, id: string, asked: AskedBy, key: string): Promise<void> {
    const { prisma } = this.database;
    const made = await queries.findAsked(prisma, accountId, key);
    if (!made) return;
    const { operationId, state, isOver } = made;
    if (isOver) {
      await this.noteRefusal(accountId, id, asked, { operationId, state });
      throw new AppError('rule_broken', {
        public: 'The bank has refused the refund: its operation says why.',
        reason: 'refund_rejected',
        headers: { Location: `/v1/operations/${operationId}` },
      });
    }
    await this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      await lockBreak(tx, accountId, id);
      const by = { actor: asked.actor, reason: null };
      if (!(await queries.isReportedInProgress(tx, accountId, id, operationId)))
        await writeEntry(tx, accountId, id, 'refund_under_way', by, { operationId, state });
      await this.refunded.settle(tx, accountId, null);
    });
  }

  private async noteRefusal(
    accountId: number,
    id: string,
    { actor }: AskedBy,
    detail: object,
  ): Promise<void> {
    await this.database.transaction((tx) =>
      writeEntry(tx, accountId, id, 'refund_refused', { actor, reason: null }, detail),
    );
  }
}

function notRefundable(text: string): AppError {
  return new AppError('rule_broken', { public: text, reason: 'not_refundable' });
}

/** Asked again, it would be refused again. */
function isRefusal({ code }: AppError): boolean {
  return code === 'rule_broken' || code === 'not_found' || code === 'validation_failed';
}
