// Makes the breaks of what was paid as they should be: opens what is missing and ends what holds no more, in the
// transaction of whatever changed it.
import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '../database.service.js';
import { Breaks } from './breaks.service.js';
import { RefundedBreaks } from './refunded-breaks.service.js';
import { findSettlementBreaks, type Finding, type ReviewedCredit } from './settlement-review.js';
import * as queries from './settlement-review.queries.js';
import { lockReconciliation } from './outcomes.queries.js';

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
    const wanted = new Map(found.map((finding) => [keyOf(finding), finding]));
    const now = standing.map((one) => ({
      ...one,
      amountCents: wanted.get(keyOf(one))?.amountCents ?? 0n,
    }));
    await this.breaks.reportResolved(tx, accountId, await queries.acceptAgain(tx, accountId, now));
    const over = standing.filter((one) => !wanted.has(keyOf(one)));
    for (const kind of new Set(over.map((one) => one.kind))) {
      const subjects = over.filter((one) => one.kind === kind).map(({ subject }) => subject);
      await this.breaks.resolve(tx, accountId, kind, subjects);
    }
    await this.breaks.revise(tx, accountId, found);
    const settled = await queries.listSettledManually(
      tx,
      accountId,
      found.map(({ nsu }) => nsu),
    );
    const untold = found.filter((finding) => !settled.some((one) => covers(one, finding)));
    await this.breaks.open(
      tx,
      accountId,
      untold.map((finding) => ({
        ...finding,
        isNotWhatWasSettled: settled.some((one) => isLeftBy(one, finding)),
      })),
    );
  }

  /** Charges whose end was found after their payments were judged; whether there were any. */
  async reviewEnded(accountId: number, limit = pageSize): Promise<boolean> {
    let last: queries.EndedCharge | null = null;
    let hasAny = false;
    do {
      const after: queries.EndedCharge | null = last;
      const page = await this.database.transaction(async (tx) => {
        await lockReconciliation(tx, accountId);
        const ended = await queries.listEndedButPaid(tx, accountId, { after, limit });
        const ids = ended.map(({ expectedPaymentId }) => expectedPaymentId);
        await this.review(tx, accountId, ids);
        // Whatever came of them: each is reviewed again until its look is old, and by its matches after that.
        if (ended.length < limit) await queries.recordChargesReviewed(tx, accountId);
        return ended;
      });
      hasAny ||= page.length > 0;
      last = page.length === limit ? (page.at(-1) ?? null) : null;
    } while (last !== null);
    return hasAny;
  }

  async listAccountsToReview(): Promise<{ accountId: number }[]> {
    return queries.listAccountsToReview(this.database.prisma);
  }
}

const keyOf = ({ kind, subject }: queries.StandingFinding): string => `${kind} ${subject}`;

/** What a person has settled is not told again under another name, unless it has come to more. */
function covers(settled: queries.SettledManually, finding: Finding): boolean {
  const { subject, expectedPaymentId, coveredCents } = settled;
  if (subject !== finding.subject || expectedPaymentId !== finding.expectedPaymentId) return false;
  return coveredCents !== null && finding.amountCents <= coveredCents;
}

/** What is found besides what went back has not gone back, whatever it comes to. */
function isLeftBy(settled: queries.SettledManually, finding: Finding): boolean {
  if (settled.resolution !== 'refund' || keyOf(settled) !== keyOf(finding)) return false;
  return settled.coveredCents !== null && finding.amountCents > settled.coveredCents;
}

function toCredits(rows: readonly queries.ReviewedRow[]): ReviewedCredit[] {
  const credits = new Map<string, ReviewedCredit>();
  for (const row of rows.filter(({ isLive }) => isLive)) {
    const {
      nsu,
      occurredAt,
      rule,
      paidCents,
      refundedCents,
      toleratedCents,
      isLive: _,
      ...terms
    } = row;
    const known = credits.get(row.expectedPaymentId) ?? { ...terms, payments: [] };
    const amounts = { amountCents: paidCents, refundedCents, toleratedCents };
    known.payments.push({ nsu, occurredAt, rule, ...amounts });
    credits.set(row.expectedPaymentId, known);
  }
  return [...credits.values()];
}
