// Closes periods of the statement: reads a period twice, with two page sizes, under a sync's lease,
// and records it as closed when both full reads agree and the balance chain holds. Without a
// visibility bound in the bank profile nothing is ever closed.
import { Injectable } from '@nestjs/common';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { assertLeaseHeld, type Lease } from '../leases/leases.queries.js';
import { withLease } from '../leases/leases.service.js';
import { Log } from '../platform/log.js';
import { JobQueue } from '../platform/job-queue.js';
import { Every } from '../platform/timer-methods.js';
import type { JobPayload } from '../queues.js';
import {
  haveDifferentPageBorders,
  haveSameLines,
  lineKeysOf,
  secondPageSize,
  limitPeriod,
  periodsToClose,
  type PageShape,
  type ClosingPeriod,
} from './closing.js';
import * as queries from './closing.queries.js';
import { contentHashOf, parseStatementLine, type ParsedLine } from './statement-line.js';
import { maxRepeatedPages } from './page-position.js';
import { StatementService } from './statement.service.js';

const busyRetryMs = 500;
/**
 * The page limit of a full read exceeds the stored lines by this much, for lines that arrive during
 * the read.
 */
const sparePages = 1_000;

interface FullRead {
  lines: Set<string>;
  newLines: number;
  /** Whether the read reached the end of the period. */
  isComplete: boolean;
  pages: PageShape;
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

/** The most lines read under one lease: the account cannot be synced during the two full reads. */
const maxLinesPerClosing = 10_000;

@Injectable()
export class StatementClosing {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly statement: StatementService,
    private readonly jobQueue: JobQueue,
    private readonly log: Log,
  ) {}

  /** Closes what can be closed now. Throws `bank_unreachable` when a page cannot be read. */
  @OnJob('closeStatement')
  async close({ accountId }: JobPayload<'closeStatement'>): Promise<void> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    if (boundMs === null) return;
    const account = await this.accounts.get(accountId);
    const closing = await withLease(this.database, accountId, 'sync_statement', (lease) =>
      this.closeWithLease(account, boundMs, lease),
    );
    if (!closing) {
      await this.jobQueue.enqueue('closeStatement', { accountId }, { delayMs: busyRetryMs });
      return;
    }
    const { outcome, newLines, isCut } = closing.result;
    await queries.recordClosingAttempt(this.database.prisma, accountId, outcome === 'closed');
    if (outcome === 'not_closed') this.log.warn({ accountId }, 'statement period not closed');
    // The next sync checks the balance chain of the new lines.
    if (newLines > 0) await this.jobQueue.enqueue('syncStatement', { accountId });
    await this.jobQueue.enqueue('reconcile', { accountId });
    if (isCut && outcome === 'closed') await this.jobQueue.enqueue('closeStatement', { accountId });
  }

  /** Enqueues a closing for each account with a day that waits for its day close. */
  @Every('closing', 5_000)
  async enqueueDue(): Promise<void> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    if (boundMs === null) return;
    for (const { accountId } of await queries.listAccountsToClose(this.database.prisma, boundMs))
      await this.jobQueue.enqueue('closeStatement', { accountId });
  }

  private async closeWithLease(
    account: BankAccount,
    visibilityBoundMs: number,
    lease: Lease,
  ): Promise<ClosingResult> {
    // The sync stores the newest lines and returns the bank's time before the first full read.
    const { bankTime } = await this.statement.syncWithLease(account, lease);
    const { prisma } = this.database;
    const closed = await queries.readClosedPeriod(prisma, account.id, visibilityBoundMs);
    const periods = periodsToClose({ ...closed, bankTime, visibilityBoundMs });
    const result: ClosingResult = { outcome: 'nothing_to_close', newLines: 0, isCut: false };
    for (const period of periods) {
      const cutAt = await queries.findPeriodCut(prisma, account.id, period, maxLinesPerClosing);
      const part = limitPeriod(period, cutAt);
      const { newLines, isClosed } = await this.closePart(account, lease, part);
      result.newLines += newLines;
      result.outcome = isClosed ? 'closed' : 'not_closed';
      result.isCut ||= part !== period;
      if (!isClosed) break;
    }
    return result;
  }

  /**
   * Reads the period twice, and records it as closed when both reads agree and its balance chain
   * has no gap.
   */
  private async closePart(
    account: BankAccount,
    lease: Lease,
    period: ClosingPeriod,
  ): Promise<{ newLines: number; isClosed: boolean }> {
    const size = this.bank.profile.statementPageSize;
    const first = await this.readPeriod(account, lease, period, size);
    const smallerSize = secondPageSize(first.pages.lines);
    const second = await this.readPeriod(account, lease, period, smallerSize);
    const newLines = first.newLines + second.newLines;
    if (!readsAgree(first, second)) return { newLines, isClosed: false };
    return this.database.transaction(async (tx) => {
      await assertLeaseHeld(tx, lease);
      if (await queries.hasGapInPeriod(tx, account.id, period))
        return { newLines, isClosed: false };
      await queries.recordClosedPeriod(tx, account.id, period);
      return { newLines, isClosed: true };
    });
  }

  /**
   * Reads the period to its end, whatever the order of its pages and the number of lines on a page.
   */
  private async readPeriod(
    account: BankAccount,
    lease: Lease,
    period: ClosingPeriod,
    limit: number,
  ): Promise<FullRead> {
    const storedLines = await this.database.prisma.statementLine.count({
      where: { accountId: account.id, occurredAt: { gte: period.from } },
    });
    const seen = new Map<string, ParsedLine>();
    let newLines = 0;
    let repeats = 0;
    let isComplete = false;
    const pages: PageShape = { lines: 0, count: 0, isRepeated: false };
    for (let page = 1; !isComplete && page <= storedLines + sparePages; page += 1) {
      const { startDate, endDate } = period;
      const { value } = await this.statement.readPage(account, {
        ...{ page, limit, startDate },
        ...(endDate === null ? {} : { endDate }),
      });
      const parsed = value.map(parseStatementLine);
      newLines += (await this.statement.recordPage(lease, parsed)).newLines;
      const before = seen.size;
      for (const entry of parsed) seen.set(contentHashOf(entry), entry);
      const hasUnseen = seen.size > before;
      if (hasUnseen) pages.count += 1;
      pages.lines = Math.max(pages.lines, parsed.length);
      repeats = hasUnseen ? 0 : repeats + 1;
      pages.isRepeated = parsed.length > 0 && repeats === maxRepeatedPages;
      isComplete = parsed.length === 0 || pages.isRepeated;
    }
    return { lines: lineKeysOf(seen.values(), period), newLines, isComplete, pages };
  }
}

function readsAgree(first: FullRead, second: FullRead): boolean {
  return (
    first.isComplete &&
    second.isComplete &&
    haveDifferentPageBorders(first.pages, second.pages) &&
    haveSameLines(first.lines, second.lines)
  );
}
