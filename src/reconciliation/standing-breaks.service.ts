// Breaks that no line under judgement shows: opened, and settled, by how things stand in the book.
import { Injectable } from '@nestjs/common';
import { BankService } from '../bank/bank.service.js';
import { referenceDelayBound } from '../bank/profiles.js';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import * as ofBills from './bill-payment-breaks.queries.js';
import * as breaks from './breaks.queries.js';
import { Breaks } from './breaks.service.js';
import * as ofStatement from './statement-breaks.queries.js';
import { MissingPayments } from './missing-payments.service.js';
import { SettlementReview } from './settlement-review.service.js';
import { lockReconciliation } from './outcomes.queries.js';

const pageSize = 1_000;

@Injectable()
export class StandingBreaks {
  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    private readonly breaks: Breaks,
    private readonly review: SettlementReview,
    private readonly missing: MissingPayments,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Wakes what the statement contradicts: verdicts on operations, transfers that failed and bills that were paid. */
  async enqueueContradicted(): Promise<void> {
    const { prisma } = this.database;
    let last: breaks.OperationKey | null = null;
    do {
      const page: breaks.OperationKey[] = await breaks.listProvenWrong(prisma, last, pageSize);
      for (const operation of page) await this.jobQueue.enqueue('advanceOperation', operation);
      last = page.length === pageSize ? (page.at(-1) ?? null) : null;
    } while (last !== null);
    const accounts = [
      ...(await breaks.listAccountsOfFailed(prisma, referenceDelayBound(this.bank.profile))),
      ...(await ofBills.listAccountsOfBills(prisma)),
      ...(await ofStatement.listAccountsOfStatement(prisma)),
      ...(await this.review.listAccountsToReview()),
    ];
    for (const { accountId } of accounts) await this.jobQueue.enqueue('reconcile', { accountId });
  }

  /**
   * Opens breaks for what is no line that could be judged, and resolves those that the book has settled; whether there
   * were any, so that their events are to be sent on their way.
   */
  async tell(accountId: number): Promise<boolean> {
    const { prisma } = this.database;
    const ofChain = await ofStatement.listUnreportedOfStatement(prisma, accountId);
    const untold = [
      ...(await breaks.listUnreported(prisma, accountId)),
      ...(await ofBills.listUnreportedOfBills(prisma, accountId)),
      ...ofChain,
    ];
    const hasMissing = await this.missing.lookWhenDue(accountId);
    const hasEnded = await this.review.reviewEnded(accountId);
    return this.database.transaction(async (tx) => {
      // What comes back is judged before this or after it: the judgement settles what has been told by then.
      await lockReconciliation(tx, accountId);
      const boundMs = referenceDelayBound(this.bank.profile);
      const failed = await breaks.listFailedThoughDebited(tx, accountId, boundMs);
      await this.breaks.open(tx, accountId, [...untold, ...failed]);
      // A hole that jumps otherwise than when it was told is open with that.
      await this.breaks.revise(tx, accountId, ofChain);
      const resolved = [
        ...(await breaks.resolveKnownOutcomes(tx, accountId)),
        ...(await ofBills.resolveEndedOfBills(tx, accountId)),
        ...(await ofStatement.resolveOverOfStatement(tx, accountId)),
      ];
      await this.breaks.reportResolved(tx, accountId, resolved);
      const changed = untold.length + failed.length + resolved.length;
      return hasEnded || hasMissing || changed > 0;
    });
  }
}
