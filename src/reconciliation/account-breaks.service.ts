// Breaks that no line of a batch causes: opened and resolved from the stored state of the account.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { visibilityBoundOrDefaultMs } from '../bank/profiles.js';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import * as billBreaks from './bill-payment-breaks.queries.js';
import * as breaks from './breaks.queries.js';
import { Breaks } from './breaks.service.js';
import * as statementBreaks from './statement-breaks.queries.js';
import { MissingPayments } from './missing-payments.service.js';
import { SettlementReview } from './settlement-review.service.js';
import { lockReconciliation } from './outcomes.queries.js';

const pageSize = 1_000;

@Injectable()
export class AccountBreaks {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly breaks: Breaks,
    private readonly review: SettlementReview,
    private readonly missing: MissingPayments,
    private readonly jobQueue: JobQueue,
  ) {}

  /**
   * Enqueues operations, failed transfers and bill payments whose outcome the statement
   * contradicts.
   */
  async enqueueContradicted(): Promise<void> {
    const { prisma } = this.database;
    let last: breaks.OperationKey | null = null;
    do {
      const page: breaks.OperationKey[] = await breaks.listContradictedOperations(
        prisma,
        last,
        pageSize,
      );
      for (const operation of page) await this.jobQueue.enqueue('advanceOperation', operation);
      last = page.length === pageSize ? (page.at(-1) ?? null) : null;
    } while (last !== null);
    const accounts = [
      ...(await breaks.listAccountsWithFailedButDebited(
        prisma,
        visibilityBoundOrDefaultMs(this.bank.profile),
      )),
      ...(await billBreaks.listAccountsWithBillBreaks(prisma)),
      ...(await statementBreaks.listAccountsWithStatementBreaks(prisma)),
      ...(await this.review.listAccountsWithEndedCharges()),
    ];
    for (const { accountId } of accounts) await this.jobQueue.enqueue('reconcile', { accountId });
  }

  /**
   * Opens and resolves the breaks of the account. Returns whether any break changed: the caller
   * then delivers the events.
   */
  async refresh(accountId: number): Promise<boolean> {
    const { prisma } = this.database;
    const ofStatement = await statementBreaks.listUnreportedStatementBreaks(prisma, accountId);
    const unreported = [
      ...(await breaks.listUnreported(prisma, accountId)),
      ...(await billBreaks.listUnreportedBillBreaks(prisma, accountId)),
      ...ofStatement,
    ];
    const hasMissing = await this.missing.checkWhenDue(accountId);
    const hasEnded = await this.review.reviewEnded(accountId);
    return this.database.transaction(async (tx) => {
      // A reversal is decided before or after this lock: either way, it resolves the breaks opened
      // here.
      await lockReconciliation(tx, accountId);
      const boundMs = visibilityBoundOrDefaultMs(this.bank.profile);
      const failed = await breaks.listFailedButDebited(tx, accountId, boundMs);
      await this.breaks.open(tx, accountId, [...unreported, ...failed]);
      // The jumps of a gap may have changed since its break was opened.
      await this.breaks.revise(tx, accountId, ofStatement);
      const resolved = [
        ...(await breaks.resolveKnownOutcomes(tx, accountId)),
        ...(await billBreaks.resolveEndedBillBreaks(tx, accountId)),
        ...(await statementBreaks.resolveEndedStatementBreaks(tx, accountId)),
      ];
      await this.breaks.reportResolved(tx, accountId, resolved);
      const changed = unreported.length + failed.length + resolved.length;
      return hasEnded || hasMissing || changed > 0;
    });
  }
}
