// Opens, revises and resolves the settlement breaks of credits in the transaction that changed
// their matches.
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
   * Reviews the credits among these expected payments, and the credits that the refunds among them
   * refund. Must be called with every expected payment whose matches were made or unlinked.
   */
  async review(tx: Tx, accountId: number, expectedPaymentIds: string[]): Promise<void> {
    const ids = [...new Set(expectedPaymentIds)];
    if (ids.length === 0) return;
    // Refunds first: a break that a refund resolves must not be resolved as automatic.
    await this.refunded.review(tx, accountId, ids);
    const rows = await queries.listReviewedPayments(tx, accountId, ids);
    const found = findSettlementBreaks(toCredits(rows));
    const open = await queries.listOpenFindings(tx, accountId, {
      nsus: [...new Set(rows.map(({ nsu }) => nsu))],
      expectedPaymentIds: [...new Set([...ids, ...rows.map((row) => row.expectedPaymentId)])],
    });
    const foundByKey = new Map(found.map((finding) => [keyOf(finding), finding]));
    const current = open.map((one) => ({
      ...one,
      amountCents: foundByKey.get(keyOf(one))?.amountCents ?? 0n,
    }));
    const restored = await queries.restoreAcceptances(tx, accountId, current);
    await this.breaks.reportResolved(tx, accountId, restored);
    const ended = open.filter((one) => !foundByKey.has(keyOf(one)));
    for (const kind of new Set(ended.map((one) => one.kind))) {
      const subjects = ended.filter((one) => one.kind === kind).map(({ subject }) => subject);
      await this.breaks.resolve(tx, accountId, kind, subjects);
    }
    await this.breaks.revise(tx, accountId, found);
    const settled = await queries.listSettledFindings(
      tx,
      accountId,
      found.map(({ nsu }) => nsu),
    );
    const unsettled = found.filter((finding) => !settled.some((one) => covers(one, finding)));
    await this.breaks.open(
      tx,
      accountId,
      unsettled.map((finding) => ({
        ...finding,
        isBeyondSettlement: settled.some((one) => isBeyondRefund(one, finding)),
      })),
    );
  }

  /**
   * Reviews charges that were found cancelled or expired after their payments were decided. Returns
   * whether there were any.
   */
  async reviewEnded(accountId: number, limit = pageSize): Promise<boolean> {
    let last: queries.EndedCharge | null = null;
    let hasAny = false;
    do {
      const after: queries.EndedCharge | null = last;
      const page = await this.database.transaction(async (tx) => {
        await lockReconciliation(tx, accountId);
        const ended = await queries.listEndedButPaidCharges(tx, accountId, { after, limit });
        const ids = ended.map(({ expectedPaymentId }) => expectedPaymentId);
        await this.review(tx, accountId, ids);
        // A charge is reviewed again until its check is old; after that, only when its matches
        // change.
        if (ended.length < limit) await queries.recordChargesReviewed(tx, accountId);
        return ended;
      });
      hasAny ||= page.length > 0;
      last = page.length === limit ? (page.at(-1) ?? null) : null;
    } while (last !== null);
    return hasAny;
  }

  async listAccountsWithEndedCharges(): Promise<{ accountId: number }[]> {
    return queries.listAccountsWithEndedCharges(this.database.prisma);
  }
}

const keyOf = ({ kind, subject }: queries.OpenFinding): string => `${kind} ${subject}`;

/** A finding within the amount that a person resolved is not reported again under another kind. */
function covers(settled: queries.SettledFinding, finding: Finding): boolean {
  const { subject, expectedPaymentId, coveredCents } = settled;
  if (subject !== finding.subject || expectedPaymentId !== finding.expectedPaymentId) return false;
  return coveredCents !== null && finding.amountCents <= coveredCents;
}

/**
 * A finding above the refunded amount contains money that is not refunded yet: the break is
 * reopened.
 */
function isBeyondRefund(settled: queries.SettledFinding, finding: Finding): boolean {
  if (settled.resolution !== 'refund' || keyOf(settled) !== keyOf(finding)) return false;
  return settled.coveredCents !== null && finding.amountCents > settled.coveredCents;
}

function toCredits(rows: readonly queries.ReviewedPaymentRow[]): ReviewedCredit[] {
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
