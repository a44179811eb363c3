// Makes the breaks of what was paid as they should be: opens what is missing and ends what holds no more, in the
// transaction of whatever changed it.
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../database.service.js';
import { Breaks } from './breaks.service.js';
import { RefundedBreaks } from './refunded-breaks.service.js';
import { findSettlementBreaks, type ReviewedCredit } from './settlement-review.js';
import * as queries from './settlement-review.queries.js';

const pageSize = 1_000;

@Injectable()
export class SettlementReview {
  constructor(
    private readonly database: Database,
    private readonly breaks: Breaks,
    private readonly refunded: RefundedBreaks,
  ) {}

  /**
   * Reviews the credits among these expected payments, and those that the refunds among them give back: to be called
   * with all whose matches were made or unlinked.
   */
  async review(tx: Tx, accountId: number, expectedPaymentIds: string[]): Promise<void> {
    const asked = [...new Set(expectedPaymentIds)];
    if (asked.length === 0) return;
    // First: what a refund settles, and opens again, would otherwise have settled itself.
    await this.refunded.review(tx, accountId, asked);
    const rows = await queries.listReviewed(tx, accountId, asked);
    const found = findSettlementBreaks(toCredits(rows));
    const standing = await queries.listStanding(tx, accountId, {
      nsus: [...new Set(rows.map(({ nsu }) => nsu))],
      expectedPaymentIds: [...new Set([...asked, ...rows.map((row) => row.expectedPaymentId)])],
    });
    const wanted = new Set(found.map(keyOf));
    const over = standing.filter((one) => !wanted.has(keyOf(one)));
    for (const kind of new Set(over.map((one) => one.kind))) {
      const subjects = over.filter((one) => one.kind === kind).map(({ subject }) => subject);
      await this.breaks.resolve(tx, accountId, kind, subjects);
    }
    await this.breaks.revise(tx, accountId, found);
    await this.breaks.open(tx, accountId, found);
  }

  /** Charges whose end was found after their payments were judged; whether there were any. */
  async reviewEnded(accountId: number): Promise<boolean> {
    const ended = await queries.listEndedButPaid(this.database.prisma, accountId, pageSize);
    await this.database.transaction(async (tx) => {
      await this.review(
        tx,
        accountId,
        ended.map(({ expectedPaymentId }) => expectedPaymentId),
      );
      if (ended.length < pageSize) await queries.recordChargesReviewed(tx, accountId);
    });
    return ended.length > 0;
  }

  async listAccountsOfEnded(): Promise<{ accountId: number }[]> {
    return queries.listAccountsOfEnded(this.database.prisma);
  }
}

const keyOf = ({ kind, subject }: queries.StandingFinding): string => `${kind} ${subject}`;

function toCredits(rows: readonly queries.ReviewedRow[]): ReviewedCredit[] {
  const credits = new Map<string, ReviewedCredit>();
  for (const row of rows.filter(({ isLive }) => isLive)) {
    const { nsu, occurredAt, paidCents, givenBackCents, toleratedCents, isLive: _, ...terms } = row;
    const known = credits.get(row.expectedPaymentId) ?? { ...terms, payments: [] };
    const amounts = { amountCents: paidCents, givenBackCents, toleratedCents };
    known.payments.push({ nsu, occurredAt, ...amounts });
    credits.set(row.expectedPaymentId, known);
  }
  return [...credits.values()];
}
