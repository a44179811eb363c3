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
import { WakeUps } from '../platform/wake-ups.js';
import { readLine, type LineReading, type StatementLine } from './line.js';
import { firstPage, isLastPage, orderOf, type PageOrder } from './paging.js';
import * as queries from './statement.queries.js';

const callDeadlineMs = 8_000;
const busyRetryMs = 500;
/**
 * A bank may answer a page past the end with its last one, for ever. Lines that arrive can push a page down by
 * just its length, once or twice, but not again and again.
 */
export const maxRepeats = 3;

interface PageResult {
  lines: number;
  newLines: number;
  lowestNsu: bigint | null;
  order: PageOrder | null;
}

@Injectable()
export class StatementService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bank: BankService,
    private readonly wakeUps: WakeUps,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Reads what is new. Throws when the bank does not answer: the next poll reads the same again. */
  async sync(accountId: number): Promise<void> {
    const account = await this.accounts.get(accountId);
    const synced = await this.database.alone('syncStatement', accountId, (stillHere) =>
      this.poll(account, { accountId, token: uuidv4() }, stillHere),
    );
    if (!synced) {
      // The other sync may have begun before what this wake-up tells of.
      await this.wakeUps.wake('syncStatement', { accountId }, { delayMs: busyRetryMs });
      return;
    }
    if (synced.result.newLines > 0) await this.wakeUps.wake('reconcile', { accountId });
    await this.wakeUps.wake('settleWebhooks', { accountId });
  }

  /** Wakes a poll of every account. */
  async wakeAll(): Promise<void> {
    for (const { id: accountId } of await this.accounts.list())
      await this.wakeUps.wake('syncStatement', { accountId });
  }

  /** Wakes accounts past their coalescing whose last completed poll is older than this. */
  async wakeOverdue(olderThanMs: number): Promise<void> {
    for (const { accountId } of await queries.listOverdue(this.database.prisma, olderThanMs))
      await this.wakeUps.wakeOverdue('syncStatement', { accountId });
  }

  /** Reads what is new, for who holds the lock; tells the bank's time before anything that is read after. */
  async poll(
    account: BankAccount,
    sync: queries.Sync,
    stillHere: () => Promise<void>,
  ): Promise<{ newLines: number; bankTime: Date }> {
    const state = await queries.beginSync(this.database.prisma, sync);
    let order = state.pageOrder;
    let newLines = 0;
    let lowestNew: bigint | null = null;
    let clockOffsetMs = 0;
    let pageLines = 0;
    let repeats = 0;
    const seen = new Set<string>();
    let begin = firstPage(order, state.linesBeforeHole, state.pageLines);
    const holeNsu = state.isHoleDue ? state.firstHoleNsu : null;
    for (let page = begin; ; page += 1) {
      await stillHere();
      const answer = await this.readPage(account, { page, limit: this.pageSize });
      clockOffsetMs = answer.date ? answer.date.getTime() - this.clock.now().getTime() : 0;
      const readings = answer.value.map(readLine);
      const read = await this.recordPage(sync, readings);
      order = read.order ?? order;
      newLines += read.newLines;
      if (read.newLines > 0) lowestNew = least(lowestNew, read.lowestNsu);
      pageLines = Math.max(pageLines, read.lines);
      if (read.lines === 0 && page === begin && page > 1) {
        // Fewer pages than expected: the bank shows more lines on one than it did.
        begin = 1;
        page = 0;
        continue;
      }
      repeats = addUnseen(seen, readings) ? 0 : repeats + 1;
      if (repeats === maxRepeats) break;
      if (isLastPage({ ...read, order, isAnchored: state.isAnchored, holeNsu })) break;
    }
    await this.database.transaction(async (tx) => {
      await this.assertCurrent(tx, sync);
      const from = least(state.firstHoleNsu, lowestNew);
      await queries.finishSync(tx, sync, {
        startedAt: state.startedAt,
        firstHoleNsu: from === null ? null : await queries.findBrokenLink(tx, account.id, from),
        hasReadHole: state.isHoleDue,
        pageOrder: order,
        pageLines,
        clockOffsetMs,
      });
    });
    return { newLines, bankTime: new Date(this.clock.now().getTime() + clockOffsetMs) };
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
    const lines = oncePerNsu(readings);
    return this.database.transaction(async (tx) => {
      await this.assertCurrent(tx, sync);
      const nsus = lines.map(({ nsu }) => nsu);
      const known = new Map(
        (await queries.findKnown(tx, accountId, nsus)).map((row) => [row.nsu, row.contentHash]),
      );
      const fresh = lines.filter(({ nsu }) => !known.has(nsu)).sort(byTime);
      const setAside = [
        ...readings.flatMap(unreadable),
        ...lines.filter((line) => isChanged(line, known)).map(changed),
      ];
      const counted = await queries.insertSetAside(tx, accountId, setAside);
      if (counted > 0) this.log.warn({ accountId, lines: counted }, 'statement lines set aside');
      if (fresh.length > 0) {
        await queries.insertLines(tx, accountId, fresh);
        const lowest = fresh.map(({ nsu }) => nsu).reduce((a, b) => (a < b ? a : b));
        await queries.markUnproved(tx, accountId, fresh.length, lowest);
      }
      return {
        lines: readings.length,
        newLines: fresh.length + counted,
        lowestNsu: nsus.reduce<bigint | null>(least, null),
        order: orderOf(nsus),
      };
    });
  }

  /** Holds the right to write for the rest of the transaction. Throws when a later sync has it. */
  async assertCurrent(tx: Tx, sync: queries.Sync): Promise<void> {
    if (await queries.isCurrent(tx, sync)) return;
    throw new AppError('conflict', { internal: 'a later sync of the statement has begun' });
  }
}

/** Notes the lines of a page; false when this reading had seen them all. */
function addUnseen(seen: Set<string>, readings: LineReading[]): boolean {
  const before = seen.size;
  for (const reading of readings)
    seen.add(reading.ok ? reading.line.contentHash : reading.contentHash);
  return seen.size > before;
}

function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

/** Pages that shift may show a line twice. */
function oncePerNsu(readings: LineReading[]): StatementLine[] {
  const lines = new Map<bigint, StatementLine>();
  for (const reading of readings) if (reading.ok) lines.set(reading.line.nsu, reading.line);
  return [...lines.values()];
}

function byTime(a: StatementLine, b: StatementLine): number {
  return a.occurredAt.getTime() - b.occurredAt.getTime() || (a.nsu < b.nsu ? -1 : 1);
}

/** One whose content was erased has none to differ from: what the bank shows again stays forgotten. */
function isChanged({ nsu, contentHash }: StatementLine, known: Map<bigint, string>): boolean {
  const before = known.get(nsu);
  return before !== undefined && before !== '' && before !== contentHash;
}

function changed({ nsu, content, contentHash }: StatementLine): queries.SetAside {
  return { kind: 'changed', nsu, reason: 'came again with another content', content, contentHash };
}

function unreadable(reading: LineReading): queries.SetAside[] {
  if (reading.ok) return [];
  const { nsu, reason, content, contentHash } = reading;
  return [{ kind: 'unreadable', nsu, reason, content, contentHash }];
}
