// Reads the bank's balances around a day: the cut of the day's lines by nsu, whether the balance
// chain links over these lines, and its jumps. A jump that a person accepted is stated in the
// certificate and carried to later days.
import { addDays } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import type { Tx } from '../database.service.js';
import { findGap, listAcceptedJumps } from '../statement/balance-chain.queries.js';
import type { Jump } from '../statement/balance-chain.js';
import { cutOfCertificate, readCertificate } from './certificate.js';
import { readOpeningCut } from './certified-lines.queries.js';
import {
  cutAfter,
  isLinked,
  sumSignedCents,
  type AcceptedDifference,
  type Cut,
  type CutLine,
  type FollowingLine,
} from './cut.js';
import * as queries from './day-closes.queries.js';

/** With more gaps than this in one day, the jumps are not listed one by one. */
const maxGaps = 100;

/** The excess of the bank's balances over the sum of the lines. */
export interface UnexplainedDifference {
  cents: bigint;
  /** Jumps for the break of the day: all but those accepted in other breaks. Empty if too many. */
  jumps: Jump[];
}

/** `unexplained` is null if the balances link, or if persons accepted every jump. */
export async function readDayBalance(
  tx: Tx,
  accountId: number,
  date: string,
  lines: CutLine[],
): Promise<{ before: Cut; cut: Cut; unexplained: UnexplainedDifference | null }> {
  const before = await cutBefore(tx, accountId, date);
  const following = await queries.listFollowingLines(tx, accountId, before.nsu, lines.length);
  const jumps = isLinked(before, following) ? [] : await listJumps(tx, accountId, following);
  const { accepted, unexplained } = await separateAccepted(tx, accountId, date, following, jumps);
  const end = statementDayStart(addDays(date, 1));
  return {
    before,
    cut: cutAfter(before, { end, lines, following, acceptedDifferences: accepted }),
    unexplained: jumps ? unexplained : { cents: excessOf(before, following), jumps: [] },
  };
}

/** From the certificate of the day before, or from the synced lines if the day is the first. */
async function cutBefore(tx: Tx, accountId: number, date: string): Promise<Cut> {
  const dayBefore = await queries.findCurrentCertificate(tx, accountId, addDays(date, -1));
  if (dayBefore) return cutOfCertificate(readCertificate(dayBefore.certificate));
  return readOpeningCut(tx, accountId, statementDayStart(date));
}

/** Every jump of the chain at these lines, accepted or not; null if there are too many. */
async function listJumps(
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
    if (gaps.length === maxGaps || gaps.includes(gap.nsu)) return null;
    gaps.push(gap.nsu);
  }
}

/**
 * An acceptance covers a jump at the same line and of the same amount only. Any other jump needs
 * an acceptance of its own.
 */
async function separateAccepted(
  tx: Tx,
  accountId: number,
  date: string,
  following: FollowingLine[],
  jumps: Jump[] | null,
): Promise<{ accepted: AcceptedDifference[]; unexplained: UnexplainedDifference | null }> {
  const accepted: AcceptedDifference[] = [];
  const unexplained: UnexplainedDifference = { cents: 0n, jumps: [] };
  if (!jumps || jumps.length === 0) return { accepted, unexplained: null };
  const acceptances = await listAcceptedJumps(tx, accountId);
  let isUnexplained = false;
  for (const jump of jumps) {
    const { nsu, cents } = jump;
    const acceptance = acceptances.find((each) => each.nsu === nsu && each.cents === cents);
    const line = following.find((each) => each.nsu === nsu);
    if (acceptance && line) {
      const { breakId, reason } = acceptance;
      const { occurredAt } = line;
      accepted.push({ nsu, occurredAt, signedCents: cents, breakId, reason });
    } else isUnexplained = true;
    if (acceptance && acceptance.subject !== subjectOfDay(date)) continue;
    unexplained.jumps.push(jump);
    unexplained.cents += cents;
  }
  return { accepted, unexplained: isUnexplained ? unexplained : null };
}

/** The subject of the break that is opened when the day's balance chain does not hold. */
export function subjectOfDay(date: string): string {
  return `day:${date}`;
}

/** The current balance of the last line, minus the balance of the cut and the sum of the lines. */
function excessOf(before: Cut, following: FollowingLine[]): bigint {
  const balance = following.at(-1)?.currentBalanceCents ?? before.balanceCents;
  return balance - before.balanceCents - sumSignedCents(following);
}
