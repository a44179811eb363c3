// Syncs the bank's statement: one process at a time reads it page by page, stores each line once
// and checks the balance chain. What a line means is decided by the reconciliation module.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { recordGoLive } from '../accounts/accounts.queries.js';
import { BankService } from '../bank/bank.service.js';
import { readStatementPage, type StatementQuery } from '../contract/statement.js';
import { Database } from '../database.service.js';
import type { Lease } from '../leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../leases/leases.service.js';
import { AppError } from '../platform/errors.js';
import { Log } from '../platform/log.js';
import { JobQueue } from '../platform/job-queue.js';
import { visibilityBoundOrDefaultMs } from '../bank/profiles.js';
import { checkChainFrom } from './balance-chain.queries.js';
import { contentHashOf, parseStatementLine, type ParsedLine } from './statement-line.js';
import { PagePosition } from './page-position.js';
import { recordLines, type PageResult } from './line-recording.queries.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import {
  areSteady,
  clockOffsetOf,
  recordClockOffset,
  type ClockOffset,
} from './bank-clock.queries.js';
import { recordSyncedLines } from './statement-metrics.service.js';
import * as queries from './statement.queries.js';

const callDeadlineMs = 8_000;
const busyRetryMs = 500;
/** Reconciliation is enqueued during a long sync each time this many pages have shown new lines. */
const pagesPerReconciliation = 10;
const progressLogIntervalMs = 5_000;
/** How often a sync of many pages reads the newest lines again. No payment waits for its end. */
const defaultNewestIntervalMs = 1_000;

export interface SyncResult {
  newLines: number;
  /**
   * Whether there is something to reconcile besides new lines: the balance chain broke or was
   * restored, or unreadable lines were resolved.
   */
  hasOtherChanges: boolean;
  /** Whether all pages due were read; the first import may stop between two pages. */
  isComplete: boolean;
  /** Null if the bank did not show its clock, or if a clock was set since the last sync. */
  bankTime: Date | null;
}

interface SyncOptions {
  /**
   * The first import of a long history stops after this time, so that other accounts are synced
   * too.
   */
  sliceMs?: number | undefined;
  newestIntervalMs?: number | undefined;
}

@Injectable()
export class StatementService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly jobQueue: JobQueue,
    private readonly log: Log,
  ) {}

  /**
   * Syncs new lines. Throws `bank_unreachable` when a page cannot be read: the next sync reads it
   * again.
   */
  async sync(accountId: number, options: SyncOptions = {}): Promise<void> {
    const account = await this.accounts.get(accountId);
    const synced = await withLease(this.database, accountId, 'sync_statement', (lease) =>
      this.syncWithLease(account, lease, options),
    );
    if (!synced) {
      // The running sync may have begun before the change that this job was enqueued for.
      await this.jobQueue.enqueue('syncStatement', { accountId }, { delayMs: busyRetryMs });
      return;
    }
    const { newLines, hasOtherChanges, isComplete } = synced.result;
    if (newLines > 0 || hasOtherChanges) await this.jobQueue.enqueue('reconcile', { accountId });
    if (isComplete) await this.jobQueue.enqueue('processWebhooks', { accountId });
    else await this.jobQueue.enqueue('syncStatement', { accountId }, { isRoutine: true });
  }

  /** Whether a sync that began at or after `instant`, on PostgreSQL's clock, has completed. */
  async isSyncedSince(accountId: number, instant: Date): Promise<boolean> {
    const where = { accountId, lastSyncStartedAt: { gte: instant } };
    return (await this.database.prisma.statementState.count({ where })) > 0;
  }

  /**
   * Syncs new lines under the account's lease `sync_statement`. `bankTime` in the result is not
   * later than the bank's time of any page read afterwards.
   */
  async syncWithLease(
    account: BankAccount,
    lease: Lease,
    { sliceMs = Infinity, newestIntervalMs = defaultNewestIntervalMs }: SyncOptions = {},
  ): Promise<SyncResult> {
    const { profile } = this.bank;
    const boundMs = visibilityBoundOrDefaultMs(profile);
    const state = await this.begin(lease, boundMs);
    const position = new PagePosition({
      ...state,
      gapNsu: state.isGapDue ? state.firstGapNsu : null,
      linesBeforeGap: await this.countLinesBeforeGap(account.id, state),
    });
    const progress = this.progressOf(account.id, state);
    let resolved = 0;
    let clock: ClockOffset | null = null;
    let bankTime: Date | null = null;
    let hasMore: boolean;
    let newestReadAtMs = 0;
    do {
      const isDue = progress.elapsedMs() - newestReadAtMs >= newestIntervalMs;
      if (position.isBehindNewest && (isDue || position.isShifted)) {
        resolved += await this.readNewest(account, lease, position);
        newestReadAtMs = progress.elapsedMs();
      }
      const { page } = position;
      const { date, parsed, recorded } = await this.syncPage(account, lease, page);
      bankTime = date;
      clock ??= await this.readBankClock(account, bankTime, state.startedAt);
      resolved += recorded.resolved;
      hasMore = position.advance(recorded, parsed.map(contentHashOf));
      await progress.report(position.newLines, recorded.newLines > 0);
    } while (hasMore && (state.isAnchored || progress.elapsedMs() <= sliceMs));
    let isBroken: boolean | null = null;
    if (!hasMore)
      do isBroken = await this.checkChain(lease, state, { position, clock });
      while (isBroken === null && (state.isAnchored || progress.elapsedMs() <= sliceMs));
    return {
      newLines: position.newLines,
      hasOtherChanges: resolved > 0 || (isBroken ?? state.isBroken) !== state.isBroken,
      isComplete: isBroken !== null,
      bankTime: clock && isSteadySince(state, clock) ? bankTime : null,
    };
  }

  /**
   * Reads the pages with lines that arrived since the sync began, while it reads earlier ones.
   * Returns how many unreadable lines were resolved.
   */
  private async readNewest(
    account: BankAccount,
    lease: Lease,
    position: PagePosition,
  ): Promise<number> {
    let newLines = 0;
    let resolved = 0;
    for (let page = 1; ; page += 1) {
      const { parsed, recorded } = await this.syncPage(account, lease, page);
      position.addNewest(recorded.newLines, parsed.map(contentHashOf));
      newLines += recorded.newLines;
      resolved += recorded.resolved;
      if (recorded.newLines < recorded.lines || recorded.lines === 0) break;
    }
    position.shift(newLines);
    if (newLines > 0) await this.jobQueue.enqueue('reconcile', { accountId: account.id });
    return resolved;
  }

  /** Reads one page, and stores its new lines. */
  private async syncPage(account: BankAccount, lease: Lease, page: number) {
    const limit = this.bank.profile.statementPageSize;
    const { date, value } = await this.readPage(account, { page, limit });
    const parsed = value.map(parseStatementLine);
    return { date, parsed, recorded: await this.recordPage(lease, parsed) };
  }

  private async begin(lease: Lease, boundMs: number): Promise<queries.SyncStart> {
    return transactionUnderLease(this.database, lease, (tx) =>
      queries.beginSync(tx, lease.accountId, boundMs),
    );
  }

  /** `startedAt` is PostgreSQL's time before the call that the bank responded to at `bankDate`. */
  private async readBankClock(
    { id, goLiveAt }: BankAccount,
    bankDate: Date | null,
    startedAt: Date,
  ): Promise<ClockOffset | null> {
    if (!bankDate) return null;
    const offset = clockOffsetOf(bankDate, startedAt, await this.database.now());
    if (!goLiveAt) await recordGoLive(this.database.prisma, id, offset.clockOffsetMs);
    return offset;
  }

  /**
   * The stored lines below the gap when pages are read again from the gap on; otherwise all stored
   * lines. They are counted only if the bank shows the oldest line first: its pages are read from
   * there.
   */
  private async countLinesBeforeGap(
    accountId: number,
    { firstGapNsu, isAnchored, isGapDue, lineCount, pageOrder }: queries.SyncStart,
  ): Promise<bigint> {
    if (firstGapNsu === null || !isAnchored || !isGapDue || pageOrder !== 'asc') return lineCount;
    return queries.countLinesBelow(this.database.prisma, accountId, firstGapNsu);
  }

  /**
   * Checks one slice of the chain where it may have changed, and completes the sync after the last
   * slice. Returns whether the chain counts as broken; null while there are more slices. The next
   * sync continues a check that ended between two slices.
   */
  private async checkChain(
    lease: Lease,
    state: queries.SyncStart,
    read: { position: PagePosition; clock: ClockOffset | null },
  ): Promise<boolean | null> {
    const { accountId } = lease;
    return transactionUnderLease(this.database, lease, async (tx) => {
      const { firstGapNsu: from, balanceCents } = await queries.lockStatementState(tx, accountId);
      // Without new lines the stored balance stays, because the line with the highest nsu may not
      // be the last booked line.
      const { gap, balance, nextNsu } =
        from === null
          ? { gap: null, balance: balanceCents, nextNsu: null }
          : await checkChainFrom(tx, accountId, from);
      if (nextNsu !== null) {
        await queries.recordCheckedChain(tx, accountId, nextNsu);
        return null;
      }
      const isBroken = await queries.finishSync(tx, accountId, {
        startedAt: state.startedAt,
        gap,
        balanceCents: balance,
        hasReadGap: state.isGapDue,
        hasReadAll: state.isFullReadDue,
        pageOrder: read.position.order,
        pageLines: read.position.pageLines,
      });
      if (read.clock) await recordClockOffset(tx, accountId, state.startedAt, read.clock);
      // The balances at a gap may change while it stays.
      if (isBroken || state.isBroken) await recordStatementTask(tx, accountId);
      return isBroken;
    });
  }

  /**
   * Progress of a long sync: enqueues reconciliation of the lines stored so far, and logs the
   * progress of an import.
   */
  private progressOf(
    accountId: number,
    { isAnchored, lineCount }: { isAnchored: boolean; lineCount: bigint },
  ) {
    const startedAt = performance.now();
    let loggedAt = startedAt;
    let pages = 0;
    return {
      elapsedMs: () => performance.now() - startedAt,
      report: async (newLines: number, hasNewLines: boolean) => {
        if (hasNewLines) pages += 1;
        if (hasNewLines && pages % pagesPerReconciliation === 0)
          await this.jobQueue.enqueue('reconcile', { accountId });
        const now = performance.now();
        if (isAnchored || now - loggedAt < progressLogIntervalMs) return;
        loggedAt = now;
        // The rate counts the lines of this sync. The total counts all stored lines, because an
        // import may resume an interrupted import.
        const linesPerSecond = Math.round((newLines * 1_000) / (now - startedAt));
        const lines = Number(lineCount) + newLines;
        this.log.info({ accountId, lines, linesPerSecond }, 'statement import in progress');
      },
    };
  }

  /**
   * Reads one page of the statement. Throws `bank_unreachable` when the bank does not return it.
   */
  async readPage(account: BankAccount, query: StatementQuery) {
    const deadline = { deadlineMs: callDeadlineMs };
    const response = await this.bank.call(readStatementPage, account, { query }, deadline);
    if (response.outcome === 'success') return response;
    const reason = response.outcome === 'unknown' ? response.reason : `status ${response.status}`;
    throw new AppError('bank_unreachable', {
      internal: `the statement of ${account.slug} was not read: ${reason}`,
    });
  }

  /** Stores the new lines of a page. Throws `conflict` when the lease was lost. */
  async recordPage(lease: Lease, parsed: ParsedLine[]): Promise<PageResult> {
    const { accountId } = lease;
    const result = await transactionUnderLease(this.database, lease, async (tx) => {
      await queries.lockStatementState(tx, accountId);
      return recordLines(tx, accountId, parsed);
    });
    recordSyncedLines(result.newLines);
    if (result.newUnreadable > 0)
      this.log.warn({ accountId, lines: result.newUnreadable }, 'statement lines unreadable');
    return result;
  }
}

/** Whether no clock was set since the last sync that measured the bank's. */
function isSteadySince(
  { clockMeasuredAt, clockOffsetMs, clockOffsetMaxMs }: queries.SyncStart,
  clock: ClockOffset,
): boolean {
  const last = {
    clockOffsetMs: Number(clockOffsetMs),
    clockOffsetMaxMs: Number(clockOffsetMaxMs),
  };
  return clockMeasuredAt === null || areSteady(last, clock);
}
