// Closes the days of an account: certifies each finished day once nothing can be missing from it,
// and amends, in order, the certificates that late lines change. One process at a time closes an
// account. Syncs and decisions go on beside it: a day is read as it was at one point.
import { Injectable } from '@nestjs/common';
import type { BankAccount } from '../../access/accounts/accounts.service.js';
import { addDays } from '../../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../../brazil/statement-day.js';
import { Database, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { EventsService } from '../../events/events.service.js';
import type { Lease } from '../../platform/postgres/leases/leases.queries.js';
import { transactionUnderLease, withLease } from '../../platform/postgres/leases/leases.service.js';
import { readClosedStatement } from '../../reconciliation/apply/decision-writer.queries.js';
import { subjectOfLate } from '../../reconciliation/decide/break-kinds.js';
import { BreakWriter } from '../../reconciliation/apply/break-writer.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { isClosed } from './closed-day.js';
import {
  DayCertifier,
  type CertificationOutcome,
  type PreparedDay,
} from './day-certifier.service.js';
import { extendLog } from './decision-log.queries.js';
import * as queries from './day-closes.queries.js';

@Injectable()
export class DayClosing {
  constructor(
    private readonly database: Database,
    private readonly bankTime: BankTime,
    private readonly breaks: BreakWriter,
    private readonly certifier: DayCertifier,
    private readonly events: EventsService,
  ) {}

  /** Closes every day that can be closed now. The sweeper tries the other days again later. */
  async close({ id: accountId, ...account }: Pick<BankAccount, 'id' | 'goLiveAt'>): Promise<void> {
    // Until the bank shows its clock, no period is closed and no day either.
    if (!account.goLiveAt) return;
    const { goLiveAt } = account;
    await withLease(this.database, accountId, 'close_days', async (lease) => {
      if (!(await this.hasFirstDay(lease, goLiveAt))) return;
      let hasEvents = await this.recordLateLines(lease, goLiveAt);
      for (;;) {
        const closed = await this.closeNextDay(lease);
        if (closed === 'accepted_since') continue;
        if (closed === 'new_lines') {
          if (await this.recordLateLines(lease, goLiveAt)) hasEvents = true;
          continue;
        }
        if (closed) hasEvents = true;
        if (!closed || closed === 'waiting' || closed === 'differs') break;
      }
      if (hasEvents) await this.events.enqueueDeliveries(accountId);
    });
  }

  /** Stores the first day: that of the go-live, or of the first line if that is later. */
  private async hasFirstDay(lease: Lease, goLiveAt: Date): Promise<boolean> {
    const { accountId } = lease;
    const { prisma } = this.database;
    if (await prisma.dayCloseState.findUnique({ where: { accountId } })) return true;
    const statement = await prisma.statementState.findUnique({ where: { accountId } });
    // Until the history was read to its beginning, its first line is not known.
    if (!statement?.isAnchored) return false;
    const first = await prisma.statementLine.findFirst({
      where: { accountId },
      orderBy: { occurredAt: 'asc' },
    });
    if (!first) return false;
    const firstDate = statementDayOf(first.occurredAt > goLiveAt ? first.occurredAt : goLiveAt);
    await transactionUnderLease(this.database, lease, (tx) =>
      queries.insertClosingState(tx, accountId, firstDate),
    );
    return true;
  }

  /**
   * Opens a break for each new line of a certified day, and stores from which day on certificates
   * must be amended. Returns whether it opened breaks.
   */
  private async recordLateLines(lease: Lease, goLiveAt: Date): Promise<boolean> {
    const { accountId } = lease;
    return transactionUnderLease(this.database, lease, async (tx) => {
      const state = await queries.lockClosingState(tx, accountId);
      if (!state) return false;
      const { lines, lowestNsu, seenArrival } = await queries.listLateLines(tx, accountId, {
        seenArrival: state.seenArrival,
        before: statementDayStart(state.nextDate),
      });
      if (seenArrival === state.seenArrival) return false;
      const first = await queries.findFirstCertificate(tx, accountId);
      const liveLines = lines.filter(({ occurredAt }) => occurredAt >= goLiveAt);
      if (!first) {
        // While nothing is certified, an earlier line since go-live makes the first day earlier.
        const [nextDate = state.nextDate] = [state.nextDate, ...liveLines.map(dateOf)].sort();
        await queries.recordClosingState(tx, accountId, { nextDate, seenArrival, amendFrom: null });
        return false;
      }
      // The balance of a day counts a line by its nsu, even if the line's time is in a later or
      // unclosed day.
      const counting =
        lowestNsu === null ? null : await queries.findFirstDayCounting(tx, accountId, lowestNsu);
      const earliest = [...lines.map(dateOf), state.amendFrom, counting]
        .filter((date) => date !== null)
        .sort()[0];
      // Lines before the first certificate can only change that certificate's opening.
      const amendFrom =
        earliest === undefined || earliest >= first.date ? (earliest ?? null) : first.date;
      await queries.recordClosingState(tx, accountId, { ...state, seenArrival, amendFrom });
      await this.breaks.open(tx, accountId, liveLines.map(lateLineBreak));
      return liveLines.length > 0;
    });
  }

  /**
   * Amends the first day that needs it, or else certifies the next day. Returns null when no day
   * can be closed, and `new_lines` when a line arrived that may belong to a certified day: that
   * line is recorded first.
   */
  private async closeNextDay(lease: Lease): Promise<CertificationOutcome | 'new_lines' | null> {
    const { accountId } = lease;
    const { prisma } = this.database;
    const madeAt = await this.bankTime.now(accountId);
    const state = await prisma.dayCloseState.findUnique({ where: { accountId } });
    if (!state) return null;
    const date = state.amendFrom ?? state.nextDate;
    const isOver = async (db: Db): Promise<boolean> =>
      state.amendFrom !== null || isClosed(date, await readClosedStatement(db, accountId), madeAt);
    if (!(await isOver(prisma))) return null;
    const { seenArrival } = state;
    if (await this.certifier.isKnownToDiffer(accountId, date, seenArrival)) return 'differs';
    await extendLog(this.database, lease);
    const prepared = await this.certifier.prepare(accountId, date, seenArrival);
    if (!prepared) return 'waiting';
    for (;;) {
      const outcome = await transactionUnderLease(this.database, lease, async (tx) =>
        (await isOver(tx)) ? this.storeDay(tx, prepared, { state, madeAt }) : null,
      );
      if (outcome !== 'outdated') return outcome;
      await this.certifier.refresh(prepared);
    }
  }

  private async storeDay(
    tx: Tx,
    prepared: PreparedDay,
    { state, madeAt }: { state: queries.ClosingState; madeAt: Date },
  ): Promise<CertificationOutcome | 'new_lines'> {
    const { accountId, date, cut, lastArrival } = prepared;
    const until = statementDayStart(addDays(date, 1));
    const search = { lastArrival, until, untilNsu: cut.nsu };
    if (await queries.hasNewLines(tx, accountId, search)) return 'new_lines';
    const { closedUntil } = await readClosedStatement(tx, accountId);
    const outcome = await this.certifier.store(tx, prepared, { madeAt, closedUntil });
    if (outcome === 'certified' || outcome === 'amended' || outcome === 'unchanged')
      await queries.recordClosingState(tx, accountId, stateAfter(date, state));
    return outcome;
  }
}

/** The state once the day is certified or amended. */
function stateAfter(date: string, state: queries.ClosingState): queries.ClosingState {
  const after = addDays(date, 1);
  if (state.amendFrom === null) return { ...state, nextDate: after };
  return { ...state, amendFrom: after < state.nextDate ? after : null };
}

function dateOf({ occurredAt }: queries.LateLine): string {
  return statementDayOf(occurredAt);
}

function lateLineBreak({ nsu, amountCents, occurredAt }: queries.LateLine) {
  const date = statementDayOf(occurredAt);
  const evidence = { date, occurredAt: occurredAt.toISOString() };
  return { kind: 'late_line', subject: subjectOfLate(date, nsu), amountCents, nsu, evidence };
}
