// Closes periods of the statement: reads a period twice, with two page sizes, and records it as
// closed when both full reads agree and the balance chain holds. Syncs run beside the two reads,
// which hold no lock. Without a visibility bound in the bank profile nothing is ever closed.
import { setTimeout as sleep } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../../access/accounts/accounts.service.js';
import { BankService } from '../../bank/bank.service.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Lease } from '../../platform/postgres/leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../../platform/postgres/leases/leases.service.js';
import { Log } from '../../platform/log.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import {
  haveDifferentPageBorders,
  limitPeriod,
  pauseAfterPageMs,
  periodsToClose,
  secondPageSize,
  type ClosingNeed,
  type ClosingPeriod,
} from './closing.js';
import { findGap } from './balance-chain.queries.js';
import * as queries from './closing.queries.js';
import { PeriodRead } from './period-read.js';
import { lockStatementState } from './statement.queries.js';
import { StatementSync } from './statement-sync.service.js';

const busyRetryMs = 500;
/** A closing reads many pages, so a job that finds one in progress comes back later. */
const closingRetryMs = 5_000;
/** The sync before a closing stores the newest lines. During the first import nothing is closed. */
const syncSliceMs = 10_000;
/**
 * The page limit of a full read exceeds the stored lines by this much, for lines that arrive during
 * the read.
 */
const sparePages = 1_000;

interface FullRead {
  read: PeriodRead;
  newLines: number;
}

interface ReadOptions {
  marginMs: number;
  need: ClosingNeed;
}

interface ClosingResult {
  outcome: 'closed' | 'nothing_to_close' | 'not_closed';
  newLines: number;
  /**
   * Whether only a part of a long period was read: a further job closes the rest, so that other
   * jobs can run in between.
   */
  isCut: boolean;
}

/** The most lines of one piece, if it is longer than a day: a piece that is closed stays closed. */
const maxLinesPerClosing = 10_000;

@Injectable()
export class StatementClosing {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly statementSync: StatementSync,
    @InjectQueue(jobs.closeStatement.name)
    private readonly closeStatementQueue: JobQueue<'closeStatement'>,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    private readonly log: Log,
  ) {}

  /** Closes what can be closed now. Throws `bank_unreachable` when a page cannot be read. */
  async close({ accountId }: JobPayload<'closeStatement'>): Promise<void> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    if (boundMs === null) return;
    const account = await this.accounts.get(accountId);
    const closing = await withLease(this.database, accountId, 'close_statement', (lease) =>
      this.closeWithLease(account, boundMs, lease),
    );
    if (closing?.result == null) {
      const delayMs = closing ? busyRetryMs : closingRetryMs;
      await this.closeStatementQueue.enqueue({ accountId }, { delayMs });
      return;
    }
    const { outcome, newLines, isCut } = closing.result;
    if (outcome === 'not_closed') this.log.warn({ accountId }, 'statement period not closed');
    // The next sync checks the balance chain of the new lines.
    if (newLines > 0) await this.syncStatementQueue.enqueue({ accountId });
    await this.reconcileQueue.enqueue({ accountId });
    if (isCut && outcome === 'closed') await this.closeStatementQueue.enqueue({ accountId });
  }

  /** Enqueues a closing for each account with a day that waits for its day close. */
  @Every('closing', 5)
  async enqueueDue(): Promise<void> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    if (boundMs === null) return;
    for (const { accountId } of await queries.listAccountsToClose(this.database.prisma, boundMs))
      await this.closeStatementQueue.enqueue({ accountId });
  }

  /** Null while another process syncs, and until the history was read to its beginning. */
  private async closeWithLease(
    account: BankAccount,
    visibilityBoundMs: number,
    lease: Lease,
  ): Promise<ClosingResult | null> {
    const { prisma } = this.database;
    const accountId = account.id;
    // The sync stores the newest lines and returns the bank's time before the first full read.
    const synced = await this.statementSync.syncOnce(accountId, { sliceMs: syncSliceMs });
    if (!synced?.isComplete) return null;
    const { bankTime } = synced;
    if (!bankTime) {
      await this.recordAttempt(lease, false);
      return { outcome: 'not_closed', newLines: 0, isCut: false };
    }
    const closed = await queries.readClosedPeriod(prisma, accountId, visibilityBoundMs);
    const periods = periodsToClose({ ...closed, bankTime, visibilityBoundMs });
    const result: ClosingResult = { outcome: 'nothing_to_close', newLines: 0, isCut: false };
    const options = { marginMs: visibilityBoundMs, need: closed };
    for (const period of periods) {
      const cutAt = await queries.findPeriodCut(prisma, accountId, period, maxLinesPerClosing);
      const part = limitPeriod(period, cutAt);
      const { newLines, isClosed } = await this.closePart(account, lease, part, options);
      result.newLines += newLines;
      result.outcome = isClosed ? 'closed' : 'not_closed';
      result.isCut ||= part !== period;
      if (!isClosed) break;
    }
    await this.recordAttempt(lease, result.outcome === 'closed');
    return result;
  }

  private async recordAttempt(lease: Lease, isClosed: boolean): Promise<void> {
    await transactionUnderLease(this.database, lease, (tx) =>
      queries.recordClosingAttempt(tx, lease.accountId, isClosed),
    );
  }

  /**
   * Reads the period twice, and records it as closed when both reads agree, its balance chain has
   * no gap, and no line of it arrived since the reads began.
   */
  private async closePart(
    account: BankAccount,
    lease: Lease,
    period: ClosingPeriod,
    options: ReadOptions,
  ): Promise<{ newLines: number; isClosed: boolean }> {
    const { prisma } = this.database;
    const arrival = await queries.findLastArrival(prisma, account.id);
    const size = this.statementSync.pageSizeOf(account);
    const first = await this.readPeriod(account, lease, period, { ...options, limit: size });
    const limit = secondPageSize(first.read.pages.lines);
    const second = await this.readPeriod(account, lease, period, { ...options, limit });
    const newLines = first.newLines + second.newLines;
    const { lowestNsu, highestNsu } = second.read;
    const hasGap = async () =>
      lowestNsu !== null && (await findGap(prisma, account.id, lowestNsu, highestNsu)).gap !== null;
    if (!readsAgree(first.read, second.read) || (await hasGap()))
      return { newLines, isClosed: false };
    const isClosed = await transactionUnderLease(this.database, lease, async (tx) => {
      await lockStatementState(tx, account.id);
      if (await queries.hasArrivedSince(tx, account.id, arrival, period, second.read)) return false;
      await queries.recordClosedPeriod(tx, account.id, period);
      return true;
    });
    return { newLines, isClosed };
  }

  /**
   * Reads the period to its end, whatever the order of its pages and the number of lines on a page.
   */
  private async readPeriod(
    account: BankAccount,
    lease: Lease,
    period: ClosingPeriod,
    { limit, marginMs, need }: ReadOptions & { limit: number },
  ): Promise<FullRead> {
    const { startDate, endDate, until } = period;
    const where = { accountId: account.id };
    const state = await this.database.prisma.statementState.findUnique({ where });
    const lastPage = Number(state?.lineCount ?? 0n);
    const read = new PeriodRead(period, lease.token, marginMs);
    let newLines = 0;
    for (let page = 1; !read.isComplete && page <= lastPage + sparePages; page += 1) {
      const { parsed } = await this.statementSync.readPage(account, {
        ...{ page, limit, startDate },
        ...(endDate === null ? {} : { endDate }),
      });
      // A sync reads from the newest line on, and stops at a page without a new line. The newest
      // lines are therefore left to it.
      const due = parsed.filter((entry) => !entry.ok || entry.line.occurredAt < until);
      if (due.length > 0) newLines += (await this.statementSync.recordPage(lease, due)).newLines;
      read.add(parsed);
      const pauseMs = pauseAfterPageMs(parsed.length, need);
      if (pauseMs > 0 && !read.isComplete) await sleep(pauseMs);
    }
    return { read, newLines };
  }
}

function readsAgree(first: PeriodRead, second: PeriodRead): boolean {
  return (
    first.isComplete &&
    second.isComplete &&
    haveDifferentPageBorders(first.pages, second.pages) &&
    first.hasSameLines(second)
  );
}
