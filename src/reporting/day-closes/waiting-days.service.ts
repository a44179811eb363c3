// Why the next day of an account is not certified yet, for people. It asks in the order in which
// `DayClosing` does, and reads what is open and never the history.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import { addDays, daysBetween } from '../../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../../brazil/statement-day.js';
import { Database } from '../../platform/postgres/database.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { readClosedStatement } from '../../reconciliation/apply/decision-writer.queries.js';
import { isCovered } from './closed-day.js';
import { subjectOfDay } from './day-balance.queries.js';
import { findFirstCertificate } from './day-closes.queries.js';
import { isUndecided, readOutcomeSequence } from './outcomes.queries.js';

/**
 * `not_started`: no day can be certified before the bank shows its clock and a first line.
 * `not_over`: the day is not over at the bank. `not_closed`: it is not proven that no line of the
 * day is missing. `differs`: the figures differ from the bank's balances. `undecided`: a line has
 * no outcome yet. `due`: nothing is in the way.
 */
export const waitingReasons = [
  'not_started',
  'not_over',
  'not_closed',
  'differs',
  'undecided',
  'due',
] as const;
export type WaitingReason = (typeof waitingReasons)[number];

export interface WaitingDay {
  /** The day that is certified next; null before the first. */
  date: string | null;
  /** Whether it has a certificate that must be amended, because of a late line. */
  isAmendment: boolean;
  reason: WaitingReason;
  /** The open break of the day's balance, for `differs`. */
  breakId: string | null;
  /** How many days that are over have no certificate. */
  days: number;
}

@Injectable()
export class WaitingDays {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
  ) {}

  async find(accountId: number): Promise<WaitingDay> {
    const { prisma: db } = this.database;
    const state = await db.dayCloseState.findUnique({ where: { accountId } });
    const none = { date: null, isAmendment: false, breakId: null, days: 0 };
    if (!state || !(await this.accounts.get(accountId)).goLiveAt)
      return { ...none, reason: 'not_started' };
    const now = await this.bankTime.now(accountId);
    const date = state.amendFrom ?? state.nextDate;
    const days = Math.max(0, daysBetween(state.nextDate, statementDayOf(now)));
    const day = { date, isAmendment: state.amendFrom !== null, breakId: null, days };
    if (!day.isAmendment) {
      if (days === 0) return { ...day, reason: 'not_over' };
      if (!isCovered(date, await readClosedStatement(db, accountId)))
        return { ...day, reason: 'not_closed' };
    }
    const differing = await db.break.findFirst({
      where: {
        accountId,
        kind: 'broken_balance_chain',
        subject: subjectOfDay(date),
        state: 'open',
      },
      select: { id: true },
    });
    if (differing) return { ...day, reason: 'differs', breakId: differing.id };
    const isWaiting = await this.hasUndecidedLine(accountId, date, state.seenArrival);
    return { ...day, reason: isWaiting ? 'undecided' : 'due' };
  }

  private async hasUndecidedLine(accountId: number, date: string, lastArrival: bigint) {
    const { prisma: db } = this.database;
    const first = await findFirstCertificate(db, accountId);
    return isUndecided(db, {
      ...{ accountId, lastArrival },
      outcomeSequence: await readOutcomeSequence(db, accountId),
      from: !first || first.date === date ? null : statementDayStart(date),
      until: statementDayStart(addDays(date, 1)),
    });
  }
}
