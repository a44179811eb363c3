// The job that syncs the statement: it reads one slice, then compares the balance that the bank
// reports with the last line of the statement. The balance chain cannot show that the newest line
// is missing. The comparison runs after some syncs, and its failure does not fail the sync.
import { setTimeout as sleep } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { visibilityBoundOrDefaultMs } from '../../bank/profiles.js';
import { readBalances } from '../../bank-contract/statement.js';
import type { RouteOutput } from '../../bank-contract/route.js';
import { Database } from '../../platform/postgres/database.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { compareBalances, liveCentsOf } from './live-balance.js';
import * as queries from './live-balance.queries.js';
import { linesToRead, pauseAfterSyncMs } from './newest-page.js';
import { StatementSync } from './statement-sync.service.js';

/**
 * Long enough to read many pages, short enough that the import of a new account does not delay
 * other accounts.
 */
const sliceMs = 10_000;
const callDeadlineMs = 5_000;
const longestPauseMs = 60_000;
/** Syncs that are further apart do not follow each other. */
const apartMs = 1_000;
/** The pause after a bank rejects the balance request, for example because it has no such route. */
const rejectedPauseMs = 3_600_000;

interface LastSync {
  endedAt: number;
  newLines: number;
  /** How many syncs found nothing, each soon after the one before it: this one is the last. */
  emptySyncs: number;
}

/** The newest line of the statement copy, and its balance. */
interface NewestLine {
  nsu: bigint;
  balanceCents: bigint;
}

@Injectable()
export class PacedSync {
  /** The last sync of each account in this process. */
  private readonly lastSyncs = new Map<number, LastSync>();

  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    private readonly statementSync: StatementSync,
  ) {}

  async sync({ accountId }: JobPayload<'syncStatement'>): Promise<void> {
    const lastNewLines = await this.pauseAfterLast(accountId);
    const newestLines = linesToRead(lastNewLines);
    const synced = await this.statementSync.sync(accountId, { sliceMs, newestLines });
    const { newLines = 0 } = synced ?? {};
    this.recordEnd(accountId, newLines);
    if (synced?.isBalanceDue) await this.compareWithBank(synced.account);
  }

  /**
   * Waits until the next sync of the account is worth its calls. Returns how many lines the last
   * one found, if it had to wait after it.
   */
  private async pauseAfterLast(accountId: number): Promise<number> {
    const last = this.lastSyncs.get(accountId);
    if (!last) return 0;
    const { endedAt, newLines, emptySyncs } = last;
    const pauseMs = endedAt + pauseAfterSyncMs(newLines, emptySyncs) - performance.now();
    if (pauseMs <= 0) return 0;
    await sleep(pauseMs);
    return newLines;
  }

  private recordEnd(accountId: number, newLines: number): void {
    const endedAt = performance.now();
    const last = this.lastSyncs.get(accountId);
    const isSoonAfter = last !== undefined && endedAt - last.endedAt < apartMs;
    const emptySyncs = newLines > 0 ? 0 : 1 + (isSoonAfter ? last.emptySyncs : 0);
    this.lastSyncs.set(accountId, { endedAt, newLines, emptySyncs });
  }

  /**
   * Requests the account's balance when a check is due, and compares it if the newest line was the
   * same before and after. A failed request is ignored: it must not fail the sync.
   */
  async compareWithBank(account: BankAccount): Promise<void> {
    const { sql } = this.database;
    const boundMs = visibilityBoundOrDefaultMs(this.bank.profile);
    const pauseMs = Math.min(longestPauseMs, boundMs);
    if (!(await queries.claimBalanceCheck(sql, account.id, pauseMs))) return;
    const before = await this.findNewest(account.id);
    const deadline = { deadlineMs: callDeadlineMs };
    const response = await this.bank.call(readBalances, account, {}, deadline);
    if (response.outcome === 'success') {
      const after = before && (await this.readNewest(account.id));
      const isSame = before?.nsu === after?.nsu && before?.balanceCents === after?.balanceCents;
      if (after && isSame) await this.record(account.id, response.value, { ...after, boundMs });
    } else if (response.outcome === 'rejection')
      await queries.postponeBalanceCheck(sql, account.id, rejectedPauseMs);
  }

  private async record(
    accountId: number,
    reported: RouteOutput<typeof readBalances>,
    { nsu: lastNsu, balanceCents, boundMs }: NewestLine & { boundMs: number },
  ): Promise<void> {
    const blockedCents = reported.amountBlocked ?? null;
    const confirmed = { liveCents: liveCentsOf(reported), blockedCents, lastNsu };
    if (await queries.confirmBankBalance(this.database.sql, accountId, confirmed)) return;
    const { liveCents, differenceCents } = compareBalances(reported, balanceCents);
    const live = { liveCents, blockedCents, differenceCents, boundMs, lastNsu };
    const isChanged = await this.database.transaction(async (tx) => {
      const hasChanged = await queries.recordBankBalance(tx, accountId, live);
      if (hasChanged) await recordStatementTask(tx, accountId);
      return hasChanged;
    });
    if (isChanged) await this.reconcileQueue.enqueue({ accountId });
  }

  /** The newest line at the bank; null if it was not read to its end. */
  private async readNewest(accountId: number): Promise<NewestLine | null> {
    const synced = await this.statementSync.sync(accountId, { sliceMs });
    return synced?.isComplete ? this.findNewest(accountId) : null;
  }

  private async findNewest(accountId: number): Promise<NewestLine | null> {
    const where = { accountId };
    const state = await this.database.prisma.statementState.findUnique({ where });
    if (state?.lastNsu == null || state.balanceCents === null) return null;
    return { nsu: state.lastNsu, balanceCents: state.balanceCents };
  }
}
