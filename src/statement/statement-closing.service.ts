// Closes spans of the statement: reads one twice, with pages of two sizes, under the lock of the polls, and says
// until when nothing is missing if both show the same and the chain of balances holds. At a bank of which nobody
// has said how late an effect may show, nothing is ever closed.
import { Injectable } from '@nestjs/common';
import { v4 as uuidv4 } from 'uuid';
import { AccountsService, type BankAccount } from '../accounts/accounts.service.js';
import { BankService } from '../bank/bank.service.js';
import { Database } from '../database.service.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { JobQueue } from '../platform/job-queue.js';
import type { JobPayload } from '../queues.js';
import {
  areCutOtherwise,
  isSame,
  linesOf,
  otherPageSize,
  pieceOf,
  spansToClose,
  type Pages,
  type Span,
} from './closing.js';
import * as queries from './closing.queries.js';
import { readLine, type LineReading } from './line.js';
import type { Sync } from './statement.queries.js';
import { maxRepeats } from './page-walk.js';
import { StatementService } from './statement.service.js';

const busyRetryMs = 500;
/** More pages than the span can have lines, and some for those that arrive meanwhile. */
const sparePages = 1_000;

interface Reading {
  lines: Set<string>;
  newLines: number;
  isWhole: boolean;
  pages: Pages;
}

interface Closing {
  outcome: 'closed' | 'nothing_to_close' | 'disagreed';
  newLines: number;
  /** Whether more than one piece was to be closed: the next comes when others have had their turn. */
  isCut: boolean;
}

/** A piece of a long span: read twice, while no poll can be. */
const mostLinesPerPiece = 10_000;

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

  /** Closes what can be closed by now. Throws when the bank does not answer. */
  @OnJob('closeStatement')
  async close({ accountId }: JobPayload<'closeStatement'>): Promise<void> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    if (boundMs === null) return;
    const account = await this.accounts.get(accountId);
    const done = await this.database.alone('syncStatement', accountId, (stillHere) =>
      this.closeAlone(account, boundMs, stillHere),
    );
    if (!done) {
      await this.jobQueue.enqueue('closeStatement', { accountId }, { delayMs: busyRetryMs });
      return;
    }
    const { outcome, newLines, isCut } = done.result;
    await queries.recordAttempt(this.database.prisma, accountId, outcome === 'closed');
    if (outcome === 'disagreed')
      this.log.warn({ accountId }, 'two readings of the statement do not close it');
    // What they brought is proved by the next poll.
    if (newLines > 0) await this.jobQueue.enqueue('syncStatement', { accountId });
    await this.jobQueue.enqueue('reconcile', { accountId });
    if (isCut && outcome === 'closed') await this.jobQueue.enqueue('closeStatement', { accountId });
  }

  /** Wakes the closing of accounts with a day that waits for it. */
  async enqueueDue(): Promise<void> {
    const boundMs = this.bank.profile.visibilityBoundMs;
    if (boundMs === null) return;
    for (const { accountId } of await queries.listToClose(this.database.prisma, boundMs))
      await this.jobQueue.enqueue('closeStatement', { accountId });
  }

  private async closeAlone(
    account: BankAccount,
    visibilityBoundMs: number,
    stillHere: () => Promise<void>,
  ): Promise<Closing> {
    const sync = { accountId: account.id, token: uuidv4() };
    // The poll brings the mirror up to date, and the bank's own time from before the first reading.
    const { bankTime } = await this.statement.poll(account, sync, stillHere);
    const { prisma } = this.database;
    const closed = await queries.readClosed(prisma, account.id, visibilityBoundMs);
    const spans = spansToClose({ ...closed, bankTime, visibilityBoundMs });
    const done: Closing = { outcome: 'nothing_to_close', newLines: 0, isCut: false };
    for (const span of spans) {
      const cutAt = await queries.findCut(prisma, account.id, span, mostLinesPerPiece);
      const piece = pieceOf(span, cutAt);
      const { newLines, doAgree } = await this.closePiece(account, sync, piece, stillHere);
      done.newLines += newLines;
      done.outcome = doAgree ? 'closed' : 'disagreed';
      done.isCut ||= piece !== span;
      if (!doAgree) break;
    }
    return done;
  }

  /** Reads the span twice, and closes it where both readings agree and its chain holds. */
  private async closePiece(
    account: BankAccount,
    sync: Sync,
    span: Span,
    stillHere: () => Promise<void>,
  ): Promise<{ newLines: number; doAgree: boolean }> {
    const size = this.bank.profile.statementPageSize;
    const first = await this.read(account, sync, span, size, stillHere);
    const otherSize = otherPageSize(first.pages.lines);
    const second = await this.read(account, sync, span, otherSize, stillHere);
    const newLines = first.newLines + second.newLines;
    if (!doAgree(first, second)) return { newLines, doAgree: false };
    return this.database.transaction(async (tx) => {
      await this.statement.assertCurrent(tx, sync);
      if (await queries.hasBrokenLink(tx, account.id, span)) return { newLines, doAgree: false };
      await queries.recordClosed(tx, sync, span);
      return { newLines, doAgree: true };
    });
  }

  /** Reads the span to its end, in whichever order it comes and however many lines the bank puts on a page. */
  private async read(
    account: BankAccount,
    sync: Sync,
    span: Span,
    limit: number,
    stillHere: () => Promise<void>,
  ): Promise<Reading> {
    const known = await queries.countLinesFrom(this.database.prisma, account.id, span.from);
    const seen = new Map<string, LineReading>();
    let newLines = 0;
    let repeats = 0;
    let isWhole = false;
    const pages: Pages = { lines: 0, count: 0, isRepeated: false };
    for (let page = 1; !isWhole && page <= known + sparePages; page += 1) {
      await stillHere();
      const { startDate, endDate } = span;
      const { value } = await this.statement.readPage(account, {
        ...{ page, limit, startDate },
        ...(endDate === null ? {} : { endDate }),
      });
      const readings = value.map(readLine);
      newLines += (await this.statement.recordPage(sync, readings)).newLines;
      const before = seen.size;
      for (const reading of readings) seen.set(keyOf(reading), reading);
      const isNew = seen.size > before;
      if (isNew) pages.count += 1;
      pages.lines = Math.max(pages.lines, readings.length);
      repeats = isNew ? 0 : repeats + 1;
      pages.isRepeated = readings.length > 0 && repeats === maxRepeats;
      isWhole = readings.length === 0 || pages.isRepeated;
    }
    return { lines: linesOf(seen.values(), span), newLines, isWhole, pages };
  }
}

function doAgree(first: Reading, second: Reading): boolean {
  return (
    first.isWhole &&
    second.isWhole &&
    areCutOtherwise(first.pages, second.pages) &&
    isSame(first.lines, second.lines)
  );
}

function keyOf(reading: LineReading): string {
  return reading.ok ? reading.line.contentHash : reading.contentHash;
}
