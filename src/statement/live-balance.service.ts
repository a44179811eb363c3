// Ties what the bank says the account holds to the last line of its statement: a line that is missing at the end no
// chain of balances can show. Asked for after a poll, seldom, and never in its way.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { referenceDelayBound } from '../bank/profiles.js';
import { readBalances } from '../contract/balances.js';
import type { RouteOutput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { JobQueue } from '../platform/job-queue.js';
import { differenceOf } from './live-balance.js';
import * as queries from './live-balance.queries.js';

const callDeadlineMs = 5_000;
const longestPauseMs = 60_000;
/** A bank without such a route is not asked again for so long. */
const absentPauseMs = 3_600_000;

@Injectable()
export class LiveBalance {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly jobQueue: JobQueue,
  ) {}

  /** Asks what the account holds, where it is time to. What the bank answers instead is no trouble of the poll's. */
  async ask(accountId: number): Promise<void> {
    const { prisma } = this.database;
    const boundMs = referenceDelayBound(this.bank.profile);
    const pauseMs = Math.min(longestPauseMs, boundMs);
    if (!(await queries.claimAsking(prisma, accountId, pauseMs))) return;
    const account = await this.accounts.get(accountId);
    const answer = await this.bank.call(readBalances, account, {}, { deadlineMs: callDeadlineMs });
    if (answer.outcome === 'success') await this.hold(accountId, answer.value, boundMs);
    else if (answer.outcome === 'rejection')
      await queries.postponeAsking(prisma, accountId, absentPauseMs);
  }

  private async hold(
    accountId: number,
    told: RouteOutput<typeof readBalances>,
    boundMs: number,
  ): Promise<void> {
    const { prisma } = this.database;
    const state = await queries.readLastLine(prisma, accountId);
    if (!state) return;
    const { liveCents, differenceCents } = differenceOf(told, state.balanceCents);
    const isChanged = await queries.recordLive(prisma, accountId, {
      ...{ liveCents, differenceCents, boundMs },
      lastNsu: state.lastNsu,
    });
    if (isChanged) await this.jobQueue.enqueue('reconcile', { accountId });
  }
}
