// The mirror of the bank's statement: read page by page by one process at a time, written once a line,
// its chain of balances proved. What a line means is not decided here.
import { Injectable } from '@nestjs/common';
import { v4 as uuidv4 } from 'uuid';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { readStatementPage, type StatementQuery } from '../contract/statement.js';
import { Database, type Tx } from '../database.service.js';
import { Clock } from '../platform/clock.js';
import { AppError } from '../platform/errors.js';
import { Log } from '../platform/log.js';
import { JobQueue } from '../platform/job-queue.js';
import { referenceDelayBound } from '../bank/profiles.js';
import { proveFrom } from './chain.queries.js';
import { readLine, type LineReading } from './line.js';
import { PageWalk } from './page-walk.js';
import { least, recordLines, type PageResult } from './recording.queries.js';
import * as queries from './statement.queries.js';

const callDeadlineMs = 8_000;
const busyRetryMs = 500;
/** What was read is judged while more is read: each time that so many pages have shown something new. */
const pagesToDecide = 10;
const progressEveryMs = 5_000;

export interface Poll {
  newLines: number;
  /** Whether anything but new lines is to be told: a chain that broke or holds again, lines that can be read now. */
  hasNews: boolean;
  /** Whether all was read that had to be; a first reading may stop between two pages. */
  isWhole: boolean;
  bankTime: Date;
}

interface PollOptions {
  /** A first reading of a long history stops after this long, so that other accounts are read too. */
  sliceMs?: number | undefined;
}

@Injectable()
export class StatementService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly jobQueue: JobQueue,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Reads what is new. Throws when the bank does not answer: the next poll reads the same again. */
  async sync(accountId: number, options: PollOptions = {}): Promise<void> {
    const account = await this.accounts.get(accountId);
    const synced = await this.database.alone('syncStatement', accountId, (stillHere) =>
      this.poll(account, { accountId, token: uuidv4() }, stillHere, options),
    );
    if (!synced) {
      // The other sync may have begun before what this wake-up tells of.
      await this.jobQueue.enqueue('syncStatement', { accountId }, { delayMs: busyRetryMs });
      return;
    }
    const { newLines, hasNews, isWhole } = synced.result;
    if (newLines > 0 || hasNews) await this.jobQueue.enqueue('reconcile', { accountId });
    if (isWhole) await this.jobQueue.enqueue('settleWebhooks', { accountId });
    else await this.jobQueue.enqueue('syncStatement', { accountId });
  }

  /** Wakes accounts past their coalescing whose last completed poll is so many of their intervals ago. */
  async enqueueOverdue(intervals: number, usualMs: number): Promise<void> {
    const { prisma } = this.database;
    for (const { accountId } of await queries.listOverdue(prisma, intervals, usualMs))
      await this.jobQueue.enqueueOverdue('syncStatement', { accountId });
  }

  /** Reads what is new, for who holds the lock; tells the bank's time before anything that is read after. */
  async poll(
    account: BankAccount,
    sync: queries.Sync,
    stillHere: () => Promise<void>,
    { sliceMs = Infinity }: PollOptions = {},
  ): Promise<Poll> {
    const boundMs = referenceDelayBound(this.bank.profile);
    const state = await queries.beginSync(this.database.prisma, sync, boundMs);
    const walk = new PageWalk({
      ...state,
      gapNsu: state.isGapDue ? state.firstGapNsu : null,
    });
    const progress = this.progressOf(account.id, state);
    let lowestNew: bigint | null = null;
    let healed = 0;
    let clockOffsetMs = 0;
    for (let isMore = true; isMore;) {
      await stillHere();
      const { page } = walk;
      const answer = await this.readPage(account, { page, limit: this.pageSize });
      clockOffsetMs = answer.date ? answer.date.getTime() - this.clock.now().getTime() : 0;
      const readings = answer.value.map(readLine);
      const read = await this.recordPage(sync, readings);
      healed += read.healed;
      if (read.newLines > 0) lowestNew = least(lowestNew, read.lowestNsu);
      isMore = walk.take(read, readings.map(contentHashOf));
      await progress.tell(walk.newLines, read.newLines > 0);
      if (isMore && !state.isAnchored && progress.elapsedMs() > sliceMs)
        return { ...this.outcome(walk, clockOffsetMs), hasNews: healed > 0, isWhole: false };
    }
    const isBroken = await this.finish(sync, state, { walk, lowestNew, clockOffsetMs });
    const hasNews = healed > 0 || isBroken !== state.isBroken;
    return { ...this.outcome(walk, clockOffsetMs), hasNews, isWhole: true };
  }

  /** Proves the chain as far as it may have changed, and ends the sync; whether it counts as broken. */
  private async finish(
    sync: queries.Sync,
    state: queries.SyncStart,
    poll: { walk: PageWalk; lowestNew: bigint | null; clockOffsetMs: number },
  ): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      await this.assertCurrent(tx, sync);
      const from = least(state.firstGapNsu, poll.lowestNew);
      // Where nothing came, the chain has come to what it had: the highest number may not be what was booked last.
      const { gap, balance } =
        from === null
          ? { gap: null, balance: state.balanceCents }
          : await proveFrom(tx, sync.accountId, from);
      return queries.finishSync(tx, sync, {
        startedAt: state.startedAt,
        gap,
        balanceCents: balance,
        hasReadGap: state.isGapDue,
        hasReadAll: state.isFullReadDue,
        pageOrder: poll.walk.order,
        pageLines: poll.walk.pageLines,
        clockOffsetMs: poll.clockOffsetMs,
      });
    });
  }

  private outcome({ newLines }: PageWalk, clockOffsetMs: number) {
    return { newLines, bankTime: new Date(this.clock.now().getTime() + clockOffsetMs) };
  }

  /** What a long reading does while it goes on: it has judged what it brought, and a first one says how far it is. */
  private progressOf(
    accountId: number,
    { isAnchored, lineCount }: { isAnchored: boolean; lineCount: bigint },
  ) {
    const beganAt = performance.now();
    let receivedAtBankTime = beganAt;
    let pages = 0;
    return {
      elapsedMs: () => performance.now() - beganAt,
      tell: async (newLines: number, isNew: boolean) => {
        if (isNew) pages += 1;
        if (isNew && pages % pagesToDecide === 0)
          await this.jobQueue.enqueue('reconcile', { accountId });
        const now = performance.now();
        if (isAnchored || now - receivedAtBankTime < progressEveryMs) return;
        receivedAtBankTime = now;
        // The rate is of this reading alone, the lines are all that there are: it may go on where another was cut off.
        const linesPerSecond = Math.round((newLines * 1_000) / (now - beganAt));
        const lines = Number(lineCount) + newLines;
        this.log.info(
          { accountId, lines, linesPerSecond },
          'the statement is read for the first time',
        );
      },
    };
  }

  private get pageSize(): number {
    return this.bank.profile.statementPageSize;
  }

  /** One page as it came. Throws when the bank does not answer. */
  async readPage(account: BankAccount, query: StatementQuery) {
    const answer = await this.bank.call(
      readStatementPage,
      account,
      { query },
      { deadlineMs: callDeadlineMs },
    );
    if (answer.outcome === 'success') return answer;
    throw new AppError('bank_unreachable', {
      internal: `the statement of ${account.slug} was not read: ${answer.outcome === 'unknown' ? answer.reason : `status ${answer.status}`}`,
    });
  }

  /** Mirrors what a page shows that the mirror has not. */
  async recordPage(sync: queries.Sync, readings: LineReading[]): Promise<PageResult> {
    const { accountId } = sync;
    const result = await this.database.transaction(async (tx) => {
      await this.assertCurrent(tx, sync);
      return recordLines(tx, accountId, readings);
    });
    if (result.setAside > 0)
      this.log.warn({ accountId, lines: result.setAside }, 'statement lines set aside');
    return result;
  }

  /** Holds the right to write for the rest of the transaction. Throws when a later sync has it. */
  async assertCurrent(tx: Tx, sync: queries.Sync): Promise<void> {
    if (await queries.isCurrent(tx, sync)) return;
    throw new AppError('conflict', { internal: 'a later sync of the statement has begun' });
  }
}

function contentHashOf(reading: LineReading): string {
  return reading.ok ? reading.line.contentHash : reading.contentHash;
}
