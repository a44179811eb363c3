// What the bank's own balances say of a day: where its lines are cut off by number, whether the chain of balances holds
// over them, and what it jumps by where it does not. A jump that a person has accepted is stated and carried on.
import { Injectable } from '@nestjs/common';
import { addDays } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import type { Tx } from '../database.service.js';
import { findGap } from '../statement/balance-chain.queries.js';
import type { Jump } from '../statement/balance-chain.js';
import { cutOf, readCertificate } from './certificate.js';
import {
  cutAfter,
  isStraight,
  sumOf,
  type AcceptedDifference,
  type Cut,
  type CutLine,
  type FollowingLine,
} from './cut.js';
import * as queries from './day-closes.queries.js';
import { readAnchor } from './certified-lines.queries.js';

/** More holes than these in one day are no statement any more. */
const mostGaps = 100;

export interface DayBalance {
  before: Cut;
  cut: Cut;
  /** What the bank's balances have more than the lines; null where they link, or persons have accepted all of it. */
  broken: Unexplained | null;
}

export interface Unexplained {
  cents: bigint;
  /** What the break of the day is about: each jump that no other break has accepted; none where they are too many. */
  jumps: Jump[];
}

@Injectable()
export class DayBalances {
  async read(tx: Tx, accountId: number, date: string, lines: CutLine[]): Promise<DayBalance> {
    const before = await this.cutBefore(tx, accountId, date);
    const following = await queries.listFollowing(tx, accountId, before.nsu, lines.length);
    const jumps = isStraight(before, following) ? [] : await this.jumpsOf(tx, accountId, following);
    const { accepted, broken } = await this.accept(tx, accountId, date, following, jumps);
    const end = statementDayStart(addDays(date, 1));
    return {
      before,
      cut: cutAfter(before, { end, lines, following, differences: accepted }),
      broken: jumps ? broken : { cents: leftOver(before, following), jumps: [] },
    };
  }

  /** Where the day before ends: as its certificate tells, or, before the first, as the mirror does. */
  private async cutBefore(tx: Tx, accountId: number, date: string): Promise<Cut> {
    const dayBefore = await queries.findStanding(tx, accountId, addDays(date, -1));
    if (dayBefore) return cutOf(readCertificate(dayBefore.certificate));
    return readAnchor(tx, accountId, statementDayStart(date));
  }

  /** Every jump of the chain at these lines, whether or not somebody has accepted it; null where they are too many. */
  private async jumpsOf(
    tx: Tx,
    accountId: number,
    following: FollowingLine[],
  ): Promise<Jump[] | null> {
    const [first, last] = [following[0], following.at(-1)];
    if (!first || !last) return [];
    const gaps: bigint[] = [];
    for (;;) {
      const { gap, jumps } = await findGap(tx, accountId, first.nsu, last.nsu, gaps);
      if (!gap) return jumps.filter(({ nsu }) => nsu >= first.nsu && nsu <= last.nsu);
      if (gaps.length === mostGaps || gaps.includes(gap.nsu)) return null;
      gaps.push(gap.nsu);
    }
  }

  /** A person accepts a jump as it was told: at that line, of that amount. Another one is another's to accept. */
  private async accept(
    tx: Tx,
    accountId: number,
    date: string,
    following: FollowingLine[],
    jumps: Jump[] | null,
  ): Promise<{ accepted: AcceptedDifference[]; broken: Unexplained | null }> {
    const accepted: AcceptedDifference[] = [];
    const broken: Unexplained = { cents: 0n, jumps: [] };
    if (!jumps || jumps.length === 0) return { accepted, broken: null };
    const taken = await queries.listAcceptedJumps(tx, accountId);
    let isBroken = false;
    for (const jump of jumps) {
      const { nsu, cents } = jump;
      const by = taken.find((each) => each.nsu === nsu && each.cents === cents);
      const line = following.find((each) => each.nsu === nsu);
      if (by && line) {
        const { breakId, reason } = by;
        const { occurredAt } = line;
        accepted.push({ nsu, occurredAt, signedCents: cents, breakId, reason });
      } else isBroken = true;
      if (by && by.subject !== subjectOfDay(date)) continue;
      broken.jumps.push(jump);
      broken.cents += cents;
    }
    return { accepted, broken: isBroken ? broken : null };
  }
}

/** What the break of a day's difference is about. */
export function subjectOfDay(date: string): string {
  return `day:${date}`;
}

/** What the last of the lines says that the account held, less what the lines come to. */
function leftOver(before: Cut, following: FollowingLine[]): bigint {
  const held = following.at(-1)?.currentBalanceCents ?? before.balanceCents;
  return held - before.balanceCents - sumOf(following);
}
