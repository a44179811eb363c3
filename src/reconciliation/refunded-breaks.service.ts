// Breaks whose money was given back: settled when the statement shows it, and open again when it shows that the money
// came back. Called under the lock of the judgement.
import { Injectable } from '@nestjs/common';
import type { Tx } from '../database.service.js';
import { Breaks } from './breaks.service.js';
import * as queries from './refunded-breaks.queries.js';

@Injectable()
export class RefundedBreaks {
  constructor(private readonly breaks: Breaks) {}

  /** After matches of these expected payments were made or unlinked. */
  async review(tx: Tx, accountId: number, expectedPaymentIds: string[]): Promise<void> {
    const nsus = await queries.listRefundedCredits(tx, accountId, expectedPaymentIds);
    if (nsus.length === 0) return;
    await this.settle(tx, accountId, nsus);
    const reopened = await queries.reopenUnrefunded(tx, accountId, nsus);
    await queries.deleteRefunded(
      tx,
      accountId,
      reopened.map(({ id }) => id),
    );
    await this.breaks.reportOpened(tx, accountId, reopened);
  }

  /** Settles what the statement shows to have gone back, of these lines or of all; whether there was any. */
  async settle(tx: Tx, accountId: number, nsus: bigint[] | null): Promise<boolean> {
    const resolved = await queries.resolveRefunded(tx, accountId, nsus);
    await queries.classifySettled(
      tx,
      accountId,
      resolved.flatMap(({ nsu }) => nsu ?? []),
    );
    await this.breaks.reportResolved(tx, accountId, resolved);
    return resolved.length > 0;
  }
}
