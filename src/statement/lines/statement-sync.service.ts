// Syncs the bank's statement: one process at a time reads it page by page, stores each line once
// and checks the balance chain. What a line means is decided by the reconciliation module.
import { setImmediate } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import { asCalled, type BankAccount } from '../../access/accounts/accounts.service.js';
import { recordGoLive } from '../../access/accounts/accounts.queries.js';
import { BankService } from '../../bank/bank.service.js';
import { readStatementPage, type StatementQuery } from '../../bank-contract/statement.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { Lease } from '../../platform/postgres/leases/leases.queries.js';
import {
  leaseMs,
  newLease,
  transactionUnderLease,
  underLease,
  type HeldLease,
} from '../../platform/postgres/leases/leases.service.js';
import { AppError, invariant } from '../../platform/errors.js';
import { Log } from '../../platform/log.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { jobs } from '../../platform/queue/queues.js';
import { visibilityBoundOrDefaultMs } from '../../bank/profiles.js';
import { checkChainFrom } from './balance-chain.queries.js';
import {
  contentHashOf,
  parseStatementLine,
  type ParsedLine,
  type ReadFailure,
} from './statement-line.js';
import { PagePosition } from './page-position.js';
import { recordLines, type PageResult } from './line-recording.queries.js';
import { recordStatementTask } from '../reconciliation-tasks/reconciliation-tasks.queries.js';
import { areSteady, clockOffsetOf, type ClockOffset } from './bank-clock.queries.js';
import { continueFrom, linesToRead, type StatementEnd } from './newest-page.js';
import { PageReader } from './page-reader.js';
import { recordSyncedLines } from './statement-metrics.service.js';
import * as queries from './statement.queries.js';

const callDeadlineMs = 8_000;
const busyRetryMs = 500;
/** It takes about five milliseconds. */
const parsedAtOnce = 100;
/**
 * How long after a sync its webhooks are processed: no payment waits for it, and the lines are
 * decided and reported meanwhile.
 */
const processWebhooksAfterMs = 100;
/** Reconciliation is enqueued during a long sync after so many new lines: a batch of it. */
const linesPerReconciliation = 1_000;
/** A page length that no bank refuses. */
const safePageSize = 100;
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

/** What a sync found, and how it found the account. */
interface Synced extends SyncResult, queries.SyncConditions {
  account: BankAccount;
}

interface SyncOptions {
  /**
   * The first import of a long history stops after this time, so that other accounts are synced
   * too.
   */
  sliceMs?: number | undefined;
  newestIntervalMs?: number | undefined;
  /** How many of the newest lines to read, before the pages if they are too few. */
  newestLines?: number | undefined;
}

interface BankPage {
  /** The bank's clock; null if the bank did not show it. */
  date: Date | null;
  parsed: ParsedLine[];
}

@Injectable()
export class StatementSync {
  /** Accounts whose bank has refused a page longer than the safe length. */
  private readonly hasRefusedPage = new Set<number>();
  /** Accounts whose bank has served such a page. */
  private readonly hasServedPage = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly bank: BankService,
    @InjectQueue(jobs.syncStatement.name)
    private readonly syncStatementQueue: JobQueue<'syncStatement'>,
    @InjectQueue(jobs.reconcile.name) private readonly reconcileQueue: JobQueue<'reconcile'>,
    @InjectQueue(jobs.processWebhooks.name)
    private readonly processWebhooksQueue: JobQueue<'processWebhooks'>,
    private readonly log: Log,
  ) {}

  /**
   * Syncs new lines, and enqueues what follows from them. Null while another process syncs: the
   * sync is then enqueued again. Throws `bank_unreachable` when a page cannot be read: the next
   * sync reads it again.
   */
  async sync(accountId: number, options: SyncOptions = {}): Promise<Synced | null> {
    const synced = await this.syncOnce(accountId, options);
    if (!synced) {
      // The running sync may have begun before the change that this job was enqueued for.
      await this.syncStatementQueue.enqueue({ accountId }, { delayMs: busyRetryMs });
      return null;
    }
    const { newLines, hasOtherChanges, isComplete, hasUncounted } = synced;
    if (newLines > 0 || hasOtherChanges) await this.reconcileQueue.enqueue({ accountId });
    const delay = { delayMs: processWebhooksAfterMs };
    if (!isComplete) await this.syncStatementQueue.enqueue({ accountId }, { isRoutine: true });
    else if (newLines > 0 || hasUncounted)
      await this.processWebhooksQueue.enqueue({ accountId }, delay);
    return synced;
  }

  /** Whether a sync that began at or after `instant`, on PostgreSQL's clock, has completed. */
  async isSyncedSince(accountId: number, instant: Date): Promise<boolean> {
    const where = { accountId, lastSyncStartedAt: { gte: instant } };
    return (await this.database.prisma.statementState.count({ where })) > 0;
  }

  /**
   * Syncs new lines under the account's lease `sync_statement`; null while another process holds
   * it. `bankTime` in the result is not later than the bank's time of any page read afterwards.
   */
  async syncOnce(accountId: number, options: SyncOptions = {}): Promise<Synced | null> {
    const boundMs = visibilityBoundOrDefaultMs(this.bank.profile);
    const lease = newLease(accountId, 'sync_statement');
    const readAtMs = performance.now();
    const { sql } = this.database;
    const beginning = await queries.beginSync(sql, lease, { leaseMs, boundMs });
    if (!beginning) return null;
    return underLease(this.database, lease, async () => {
      const account = asCalled(beginning, readAtMs);
      const state = beginning.hasBegun ? beginning : await this.beginImport(lease, boundMs);
      const result = await this.syncWithLease(account, lease, state, options);
      const { isBalanceDue, hasUncounted } = beginning;
      return { ...result, account, isBalanceDue, hasUncounted };
    });
  }

  private async syncWithLease(
    account: BankAccount,
    lease: HeldLease,
    state: queries.SyncStart,
    options: SyncOptions,
  ): Promise<SyncResult> {
    const pages = new PageReader((page: number) => this.requestPage(account, page));
    const newest = await this.syncNewest(account, lease, state, { pages, options });
    return newest ?? this.syncPages(account, lease, state, { pages, options });
  }

  /**
   * Reads the newest lines only, and completes the sync if nothing else can be new. Otherwise
   * returns null, and the pages must be read.
   */
  private async syncNewest(
    account: BankAccount,
    lease: HeldLease,
    state: queries.SyncStart,
    { pages, options }: { pages: PageReader<BankPage>; options: SyncOptions },
  ): Promise<SyncResult | null> {
    const { startedAt } = state;
    const end = endOf(state);
    if (end === undefined || state.isLongReadDue || !account.goLiveAt) return null;
    const pageSize = this.pageSizeOf(account);
    const { newestLines = linesToRead(0) } = options;
    const limit = end === null ? pageSize : Math.min(newestLines, pageSize);
    const page = await this.requestPage(account, 1, limit);
    if (limit === pageSize) pages.putBack(1, page);
    const continued = continueFrom(end, page.parsed);
    if (!continued) return null;
    const { sql } = this.database;
    const read = { ...continued, end, startedAt, bankDate: page.date };
    const clock = await queries.recordNewestLines(sql, lease, read);
    if (!clock) return null;
    lease.hasEnded = true;
    recordSyncedLines(continued.fresh.length);
    return {
      newLines: continued.fresh.length,
      hasOtherChanges: false,
      isComplete: true,
      bankTime: isSteadySince(state, clock) ? page.date : null,
    };
  }

  private async syncPages(
    account: BankAccount,
    lease: Lease,
    state: queries.SyncStart,
    { pages, options }: { pages: PageReader<BankPage>; options: SyncOptions },
  ): Promise<SyncResult> {
    const { sliceMs = Infinity, newestIntervalMs = defaultNewestIntervalMs } = options;
    const position = new PagePosition({
      ...state,
      gapNsu: state.isGapDue ? state.firstGapNsu : null,
      linesBeforeGap: await this.countLinesBeforeGap(account.id, state),
    });
    const end = endOf(state) ?? null;
    const progress = this.progressOf(account.id, state);
    let resolved = 0;
    let clock: ClockOffset | null = null;
    let bankTime: Date | null = null;
    let hasMore: boolean;
    let newestReadAtMs = 0;
    /** Whether the last page was full of new lines: the page after it is read as well. */
    let hasNextPage = false;
    const isNewestDue = () => progress.elapsedMs() - newestReadAtMs >= newestIntervalMs;
    do {
      if (position.isBehindNewest && (isNewestDue() || position.isShifted)) {
        const newest = await this.readNewest(account, lease, position);
        // New lines have shifted the page that was requested ahead.
        if (newest.newLines > 0) pages.forget();
        resolved += newest.resolved;
        newestReadAtMs = progress.elapsedMs();
      }
      const { date, parsed } = await pages.read(position.page);
      // The first import reads all pages: while one is stored, the bank sends the next.
      const isFull = parsed.length > 0 && parsed.length >= position.pageLines;
      if (hasNextPage && isFull && !isNewestDue()) pages.requestAhead(position.page + 1);
      const recorded = await this.recordPage(lease, parsed);
      bankTime = date;
      clock ??= await this.readBankClock(account, bankTime, state.startedAt);
      resolved += recorded.resolved;
      hasNextPage = !state.isAnchored && isFull && recorded.newLines === parsed.length;
      const isJoined = end !== null && continueFrom(end, parsed) !== null;
      hasMore = position.advance({ ...recorded, isJoined }, parsed.map(contentHashOf));
      await progress.report(position.newLines);
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

  /** Reads the lines that arrived since the sync began, while it reads earlier ones. */
  private async readNewest(
    account: BankAccount,
    lease: Lease,
    position: PagePosition,
  ): Promise<Pick<PageResult, 'newLines' | 'resolved'>> {
    let newLines = 0;
    let resolved = 0;
    for (let page = 1; ; page += 1) {
      const { parsed } = await (page === 1
        ? this.requestNewest(account, position)
        : this.requestPage(account, page));
      const recorded = await this.recordPage(lease, parsed);
      position.addNewest(recorded.newLines, parsed.map(contentHashOf));
      newLines += recorded.newLines;
      resolved += recorded.resolved;
      if (recorded.newLines < recorded.lines || recorded.lines === 0) break;
    }
    position.shift(newLines);
    if (newLines > 0) await this.reconcileQueue.enqueue({ accountId: account.id });
    return { newLines, resolved };
  }

  /** A few of the newest lines; the whole first page if this sync has read none of them. */
  private async requestNewest(account: BankAccount, position: PagePosition): Promise<BankPage> {
    const pageSize = this.pageSizeOf(account);
    const limit = Math.min(linesToRead(0), pageSize);
    const few = await this.requestPage(account, 1, limit);
    const isEnough = limit === pageSize || position.hasSeenSome(few.parsed.map(contentHashOf));
    return isEnough ? few : this.requestPage(account, 1);
  }

  private requestPage(
    account: BankAccount,
    page: number,
    limit = this.pageSizeOf(account),
  ): Promise<BankPage> {
    return this.readPage(account, { page, limit });
  }

  /** How many lines a page of the account's statement requests. */
  pageSizeOf({ id }: BankAccount): number {
    const { statementPageSize } = this.bank.profile;
    return this.hasRefusedPage.has(id)
      ? Math.min(statementPageSize, safePageSize)
      : statementPageSize;
  }

  private async beginImport(lease: Lease, boundMs: number): Promise<queries.SyncStart> {
    const { accountId } = lease;
    return transactionUnderLease(this.database, lease, async (tx) => {
      await queries.beginImport(tx, accountId);
      const state = await queries.readSyncStart(tx, accountId, boundMs);
      invariant(state, 'an import that began has a state');
      return state;
    });
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
        const data = { firstGapNsu: nextNsu };
        await tx.statementState.updateMany({ where: { accountId }, data });
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
        clock: read.clock,
      });
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
    let undecidedFrom = 0;
    return {
      elapsedMs: () => performance.now() - startedAt,
      report: async (newLines: number) => {
        // These lines are decided while the next ones are read.
        if (newLines - undecidedFrom >= linesPerReconciliation) {
          undecidedFrom = newLines;
          await this.reconcileQueue.enqueue({ accountId });
        }
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
  async readPage(account: BankAccount, query: StatementQuery): Promise<BankPage> {
    const deadline = { deadlineMs: callDeadlineMs };
    const response = await this.bank.call(readStatementPage, account, { query }, deadline);
    const isLong = (query.limit ?? 0) > safePageSize;
    if (response.outcome === 'success') {
      if (isLong) this.hasServedPage.add(account.id);
      return { date: response.date, parsed: await parseLines(response.value) };
    }
    // The bank, or what stands before it, may have refused the length of the page: the next sync
    // requests shorter ones. A bank that has served such a page fails for another reason.
    if (isLong && !this.hasServedPage.has(account.id)) this.hasRefusedPage.add(account.id);
    const reason = response.outcome === 'unknown' ? response.reason : `status ${response.status}`;
    const isKeyRefused = response.status === 401 || response.status === 403;
    await this.recordFailure(account.id, isKeyRefused ? 'key_refused' : 'no_answer');
    throw new AppError('bank_unreachable', {
      internal: `the statement of ${account.slug} was not read: ${reason}`,
    });
  }

  /** The first failure of its kind stands until a sync has completed. */
  private async recordFailure(accountId: number, readFailure: ReadFailure): Promise<void> {
    await this.database.prisma.statementState.updateMany({
      where: { accountId, OR: [{ readFailure: null }, { readFailure: { not: readFailure } }] },
      data: { readFailure, readFailedSince: await this.database.now() },
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

/** In parts, so that a long page does not delay what else this process has to do. */
async function parseLines(page: readonly unknown[]): Promise<ParsedLine[]> {
  const parsed: ParsedLine[] = [];
  for (const line of page) {
    if (parsed.length > 0 && parsed.length % parsedAtOnce === 0) await setImmediate();
    parsed.push(parseStatementLine(line));
  }
  return parsed;
}

/**
 * The end of a statement that is stored without a gap; null if it has no line; undefined if the
 * newest page alone does not complete the sync.
 */
function endOf(state: queries.SyncStart): StatementEnd | null | undefined {
  const { isAnchored, firstGapNsu, isBroken, pageOrder, lineCount, lastNsu, balanceCents } = state;
  if (firstGapNsu !== null || isBroken) return undefined;
  if (lineCount === 0n) return lastNsu === null && pageOrder === null ? null : undefined;
  if (!isAnchored || pageOrder === 'asc') return undefined;
  return lastNsu === null || balanceCents === null ? undefined : { nsu: lastNsu, balanceCents };
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
