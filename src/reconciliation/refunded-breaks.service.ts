// Breaks whose payment was refunded: resolved when the statement shows the refund, reopened when it
// shows the refund's reversal. Callers hold the account's reconciliation lock.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import { Breaks } from './breaks.service.js';
import * as queries from './refunded-breaks.queries.js';

@Injectable()
export class RefundedBreaks {
  constructor(private readonly breaks: Breaks) {}

  /** Must be called after matches of these expected payments were made or unlinked. */
  async review(tx: Tx, accountId: number, expectedPaymentIds: string[]): Promise<void> {
    const nsus = await queries.listRefundedCredits(tx, accountId, expectedPaymentIds);
    if (nsus.length === 0) return;
    await this.settle(tx, accountId, nsus);
    const reopened = await queries.reopenReversedRefunds(tx, accountId, nsus);
    await queries.deleteRefundClassifications(
      tx,
      accountId,
      reopened.map(({ id }) => id),
    );
    await this.breaks.reportOpened(tx, accountId, reopened);
  }

  /**
   * Resolves breaks of these lines, or of all, whose refund the statement shows. Returns whether
   * any break was resolved.
   */
  async settle(tx: Tx, accountId: number, nsus: bigint[] | null): Promise<boolean> {
    const resolved = await queries.resolveRefunded(tx, accountId, nsus);
    await queries.classifyLinesOfSettledBreaks(
      tx,
      accountId,
      resolved.flatMap(({ nsu }) => nsu ?? []),
    );
    await this.breaks.reportResolved(tx, accountId, resolved);
    return resolved.length > 0;
  }
}
