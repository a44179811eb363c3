// Breaks that no line of a batch causes: opened and resolved from the stored state of the account.
import { Injectable } from '@nestjs/common';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import * as billBreaks from './bill-payment-breaks.queries.js';
import * as breaks from './breaks.queries.js';
import { Breaks } from './breaks.service.js';
import * as statementBreaks from './statement-breaks.queries.js';
import { MissingPayments } from './missing-payments.service.js';
import { lockReconciliation } from './apply.queries.js';

const pageSize = 1_000;

@Injectable()
export class AccountBreaks {
  constructor(
    private readonly database: Database,
    private readonly breaks: Breaks,
    private readonly missing: MissingPayments,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Enqueues operations and accounts whose stored state asks for a break, or for its end. */
  @Every('contradictions', 5_000)
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
      ...(await breaks.listAccountsWithOutcomes(prisma)),
      ...(await billBreaks.listAccountsWithBillBreaks(prisma)),
      ...(await statementBreaks.listAccountsWithStatementBreaks(prisma)),
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
    return this.database.transaction(async (tx) => {
      await lockReconciliation(tx, accountId);
      await this.breaks.open(tx, accountId, unreported);
      // The jumps of a gap may have changed since its break was opened.
      await this.breaks.revise(tx, accountId, ofStatement);
      const resolved = [
        ...(await breaks.resolveKnownOutcomes(tx, accountId)),
        ...(await billBreaks.resolveEndedBillBreaks(tx, accountId)),
        ...(await statementBreaks.resolveEndedStatementBreaks(tx, accountId)),
      ];
      await this.breaks.reportResolved(tx, accountId, resolved);
      return hasMissing || unreported.length + resolved.length > 0;
    });
  }
}
