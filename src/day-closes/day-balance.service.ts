// What the bank's own balances say of a day: where its lines are cut off by number, whether the chain of balances holds
// over them, and what it jumps by where it does not. A jump that a person has accepted is stated and carried on.
import { Injectable } from '@nestjs/common';
import { addDays } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import type { Tx } from '../database.service.js';
import { findHole } from '../statement/chain.queries.js';
import type { Jump } from '../statement/chain.js';
import { cutOf, readCertificate } from './certificate.js';
import {
  cutAfter,
  isStraight,
  type AcceptedDifference,
  type Cut,
  type CutLine,
  type FollowingLine,
} from './cut.js';
import * as queries from './day-closes.queries.js';
import { readAnchor } from './seals.queries.js';

/** More holes than these in one day are no statement any more. */
const mostHoles = 100;

export interface DayBalance {
  before: Cut;
  cut: Cut;
  /** What the bank's balances have more than the lines, and nobody has accepted. */
  unexplainedCents: bigint;
  isBroken: boolean;
}

@Injectable()
export class DayBalances {
  async read(tx: Tx, accountId: number, date: string, lines: CutLine[]): Promise<DayBalance> {
    const before = await this.cutBefore(tx, accountId, date);
    const following = await queries.listFollowing(tx, accountId, before.nsu, lines.length);
    const jumps = isStraight(before, following) ? [] : await this.jumpsOf(tx, accountId, following);
    const { accepted, unexplained } = await this.accept(tx, accountId, date, following, jumps);
    const end = statementDayStart(addDays(date, 1));
    return {
      before,
      cut: cutAfter(before, { end, lines, following, differences: accepted }),
      unexplainedCents: unexplained.reduce((sum, { cents }) => sum + cents, 0n),
      isBroken: unexplained.length > 0,
    };
  }

  /** Where the day before ends: as its certificate tells, or, before the first, as the mirror does. */
  private async cutBefore(tx: Tx, accountId: number, date: string): Promise<Cut> {
    const dayBefore = await queries.findStanding(tx, accountId, addDays(date, -1));
    if (dayBefore) return cutOf(readCertificate(dayBefore.certificate));
    return readAnchor(tx, accountId, statementDayStart(date));
  }

  /** Every jump of the chain at these lines, whether or not somebody has accepted it. */
  private async jumpsOf(tx: Tx, accountId: number, following: FollowingLine[]): Promise<Jump[]> {
    const [first, last] = [following[0], following.at(-1)];
    if (!first || !last) return [];
    const holes: bigint[] = [];
    for (;;) {
      const { hole, jumps } = await findHole(tx, accountId, first.nsu, last.nsu, holes);
      if (hole && holes.length < mostHoles && !holes.includes(hole.nsu)) holes.push(hole.nsu);
      else return jumps.filter(({ nsu }) => nsu >= first.nsu && nsu <= last.nsu);
    }
  }

  private async accept(
    tx: Tx,
    accountId: number,
    date: string,
    following: FollowingLine[],
    jumps: Jump[],
  ): Promise<{ accepted: AcceptedDifference[]; unexplained: Jump[] }> {
    const accepted: AcceptedDifference[] = [];
    const unexplained: Jump[] = [];
    const breaks = jumps.length === 0 ? [] : await queries.listAcceptedBreaks(tx, accountId);
    const ofDay = breaks.find(({ subject }) => subject === `day:${date}`);
    for (const jump of jumps) {
      const { nsu, cents } = jump;
      const by = breaks.find((each) => each.nsu === nsu) ?? ofDay;
      const line = following.find((each) => each.nsu === nsu);
      if (by && line) {
        const { id: breakId, reason } = by;
        const { occurredAt } = line;
        accepted.push({ nsu, occurredAt, signedCents: cents, breakId, reason });
      } else unexplained.push(jump);
    }
    return { accepted, unexplained };
  }
}
