// Closes days: has each certified that has ended once nothing can be missing from it, and has amended, in order, what a
// line that came late has changed. One process at a time for an account; each day is a transaction of its own.
import { Injectable } from '@nestjs/common';
import type { BankAccount } from '../accounts/accounts.service.js';
import { addDays } from '../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../brazil/statement-day.js';
import { Database, type Tx } from '../database.service.js';
import { EventsService } from '../events/events.service.js';
import { subjectOfLate } from '../reconciliation/line-outcome.js';
import { Breaks } from '../reconciliation/breaks.service.js';
import { BankTime } from '../statement/bank-time.service.js';
import { DayCertifier, type Certified } from './day-certifier.service.js';
import * as queries from './day-closes.queries.js';
import { hashLine } from './line-hasher.service.js';
import * as seals from './certified-lines.queries.js';

const certifiedAtOnce = 5_000;

@Injectable()
export class DayClosing {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly breaks: Breaks,
    private readonly certifier: DayCertifier,
    private readonly events: EventsService,
  ) {}

  /** Does what can be done by now; a day that has to wait is looked at again by the sweeper. */
  async close({ id: accountId, goLiveAt }: Pick<BankAccount, 'id' | 'goLiveAt'>): Promise<void> {
    await this.database.withSessionLock('closeDays', accountId, async (keepLock) => {
      if (!(await this.begin(accountId, goLiveAt))) return;
      let hasReported = await this.noteLateLines(accountId, goLiveAt);
      await this.certifyEarlier(accountId, keepLock);
      for (;;) {
        await keepLock();
        const passed = await this.passDay(accountId);
        if (passed === 'unseen') {
          if (await this.noteLateLines(accountId, goLiveAt)) hasReported = true;
          continue;
        }
        if (passed) hasReported = true;
        if (!passed || passed.outcome === 'waiting' || passed.outcome === 'differs') break;
      }
      if (hasReported) await this.events.enqueueDeliveries(accountId);
    });
  }

  /** The first day is that of the go-live, or of the first line, whichever is later. */
  private async begin(accountId: number, goLiveAt: Date): Promise<boolean> {
    const { prisma } = this.database;
    if (await queries.findState(prisma, accountId)) return true;
    const firstLineAt = await queries.findFirstLineAt(prisma, accountId);
    if (!firstLineAt) return false;
    const firstDate = statementDayOf(firstLineAt > goLiveAt ? firstLineAt : goLiveAt);
    await queries.beginClosing(prisma, accountId, firstDate);
    return true;
  }

  /** Opens a break for each line of a day that has its certificate, and notes from when on these are to be amended. */
  private async noteLateLines(accountId: number, goLiveAt: Date): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const state = await queries.holdChain(tx, accountId);
      if (!state) return false;
      const { lines, lowestNsu, seenArrival } = await queries.listLate(tx, accountId, {
        seenArrival: state.seenArrival,
        before: statementDayStart(state.nextDate),
      });
      if (seenArrival === state.seenArrival) return false;
      const first = await queries.findFirst(tx, accountId);
      const told = lines.filter(({ occurredAt }) => occurredAt >= goLiveAt);
      if (!first) {
        await this.beginEarlier(tx, accountId, { ...state, seenArrival }, told);
        return false;
      }
      // A day's balance counts a line by its number, though its time be of a later day, or of one that is not closed yet.
      const counted =
        lowestNsu === null ? null : await queries.findFirstCounting(tx, accountId, lowestNsu);
      const late = [...lines.map(dateOf), state.amendFrom, counted]
        .filter((date) => date !== null)
        .sort()[0];
      // What lies before the first certificate can only have changed its opening.
      const amendFrom = late === undefined || late >= first.date ? (late ?? null) : first.date;
      await queries.recordSeen(tx, accountId, { seenArrival, amendFrom });
      await this.breaks.open(tx, accountId, told.map(lateLine));
      return told.length > 0;
    });
  }

  /** Nothing is certified yet: days before the first that was thought of are closed too. */
  private async beginEarlier(
    tx: Tx,
    accountId: number,
    { nextDate, seenArrival }: queries.ClosingState,
    lines: queries.LateLine[],
  ): Promise<void> {
    await queries.recordSeen(tx, accountId, { seenArrival, amendFrom: null });
    const earliest = lines.map(dateOf).sort()[0];
    if (earliest !== undefined && earliest < nextDate)
      await queries.recordPassed(tx, accountId, { nextDate: earliest, amendFrom: null });
  }

  /** Seals what lies before the first day, piece by piece: a history may be long. */
  private async certifyEarlier(accountId: number, keepLock: () => Promise<void>): Promise<void> {
    const { prisma } = this.database;
    const state = await queries.findState(prisma, accountId);
    if (!state || (await queries.findFirst(prisma, accountId))) return;
    const before = statementDayStart(state.nextDate);
    for (let isMore = true; isMore;) {
      await keepLock();
      isMore = await this.database.transaction(async (tx) => {
        const lines = await seals.listUncertified(tx, accountId, before, certifiedAtOnce);
        await seals.insertCertifiedLines(
          tx,
          accountId,
          lines.map((line) => hashLine(accountId, line)),
        );
        return lines.length === certifiedAtOnce;
      });
    }
  }

  /**
   * Amends the first day that asks for it, or certifies the next; null when there is none that could be, `unseen` when a
   * line has arrived that may be of a day that is certified: it is noted first.
   */
  private async passDay(accountId: number): Promise<Certified | 'unseen' | null> {
    const madeAt = await this.bankTime.now(accountId);
    return this.database.transaction(async (tx) => {
      const mirror = await queries.lockStatement(tx, accountId);
      const state = await queries.holdChain(tx, accountId);
      if (!state) return null;
      if ((await queries.readArrival(tx, accountId)) > state.seenArrival) return 'unseen';
      const { nextDate, amendFrom } = state;
      const date = amendFrom ?? nextDate;
      if (amendFrom === null && !isClosed(date, mirror, madeAt)) return null;
      const { closedUntil } = mirror;
      const passed = await this.certifier.certify(tx, accountId, date, { madeAt, closedUntil });
      if (passed.outcome !== 'waiting' && passed.outcome !== 'differs')
        await this.pass(tx, accountId, date, state);
      return passed;
    });
  }

  private async pass(
    tx: Tx,
    accountId: number,
    date: string,
    { nextDate, amendFrom }: queries.ClosingState,
  ): Promise<void> {
    const after = addDays(date, 1);
    if (amendFrom === null)
      await queries.recordPassed(tx, accountId, { nextDate: after, amendFrom: null });
    else
      await queries.recordPassed(tx, accountId, {
        nextDate,
        amendFrom: after < nextDate ? after : null,
      });
  }
}

/** Nothing can be missing from a day that is closed from its beginning to its end, and that has ended at the bank. */
function isClosed(
  date: string,
  { closedFrom, closedUntil }: { closedFrom: Date | null; closedUntil: Date | null },
  bankTime: Date,
): boolean {
  const end = statementDayStart(addDays(date, 1));
  if (!closedFrom || !closedUntil || end > bankTime) return false;
  return closedFrom <= statementDayStart(date) && closedUntil >= end;
}

function dateOf({ occurredAt }: queries.LateLine): string {
  return statementDayOf(occurredAt);
}

function lateLine({ nsu, amountCents, occurredAt }: queries.LateLine) {
  const date = statementDayOf(occurredAt);
  const evidence = { date, occurredAt: occurredAt.toISOString() };
  return { kind: 'late_line', subject: subjectOfLate(date, nsu), amountCents, nsu, evidence };
}
