// Reads the bank's balances around a day: the cut of the day's lines by nsu, whether the balance
// chain links over these lines, and its jumps. A jump that a person accepted is stated in the
// certificate and carried to later days.
import { addDays } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import type { Db } from '../../platform/postgres/database.service.js';
import { findGap, listAcceptedJumps } from '../../statement/lines/balance-chain.queries.js';
import type { Jump } from '../../statement/lines/balance-chain.js';
import { cutOfCertificate, readCertificate } from './certificate.js';
import { cutAfter, type AcceptedDifference, type Cut } from './cut.js';
import * as queries from './day-closes.queries.js';
import { listCutLines, listStraddlingLines, readFollowing } from './day-lines.queries.js';
import { readCurrentBalance, readOpeningCut } from './opening-cut.queries.js';

/** With more gaps than this in one day, the jumps are not listed one by one. */
const maxGaps = 100;

/** The excess of the bank's balances over the sum of the lines. */
export interface UnexplainedDifference {
  cents: bigint;
  /** Jumps for the break of the day: all but those accepted in other breaks. Empty if too many. */
  jumps: Jump[];
}

/**
 * The cuts around a day with so many lines, of the lines up to `lastArrival`. `unexplained` is null
 * if the balances link, or if persons accepted every jump.
 */
export async function readDayBalance(
  db: Db,
  accountId: number,
  day: { date: string; lines: number; lastArrival: bigint },
): Promise<{ before: Cut; cut: Cut; unexplained: UnexplainedDifference | null }> {
  const { date, lines: count, lastArrival } = day;
  const before = await cutBefore(db, accountId, date, lastArrival);
  const { nsu: afterNsu } = before;
  const following = await readFollowing(db, accountId, { afterNsu, count, lastArrival });
  const { firstNsu, lastNsu, cents } = following;
  const isEmpty = firstNsu === null || lastNsu === null;
  const jumps = isEmpty ? [] : await listJumps(db, accountId, firstNsu, lastNsu);
  const { accepted, unexplained } = await separateAccepted(db, accountId, date, jumps);
  const start = statementDayStart(date);
  const end = statementDayStart(addDays(date, 1));
  const straddlingLines = isEmpty
    ? []
    : await listStraddlingLines(db, accountId, {
        ...{ afterNsu, cutNsu: lastNsu, start, end, lastArrival },
      });
  const acceptedDifferences = accepted;
  const cut = cutAfter(before, { end, following, straddlingLines, acceptedDifferences });
  if (jumps || lastNsu === null) return { before, cut, unexplained };
  const balance = await readCurrentBalance(db, accountId, lastNsu);
  return { before, cut, unexplained: { cents: balance - before.balanceCents - cents, jumps: [] } };
}

/** From the certificate of the day before, or from the synced lines if the day is the first. */
async function cutBefore(
  db: Db,
  accountId: number,
  date: string,
  lastArrival: bigint,
): Promise<Cut> {
  const dayBefore = await queries.findCurrentCertificate(db, accountId, addDays(date, -1));
  if (dayBefore) return cutOfCertificate(readCertificate(dayBefore.certificate));
  return readOpeningCut(db, accountId, statementDayStart(date), lastArrival);
}

/** Every jump of the chain at these lines, accepted or not; null if there are too many. */
async function listJumps(
  db: Db,
  accountId: number,
  firstNsu: bigint,
  lastNsu: bigint,
): Promise<Jump[] | null> {
  const gaps: bigint[] = [];
  for (;;) {
    const { gap, jumps } = await findGap(db, accountId, firstNsu, lastNsu, gaps);
    if (!gap) return jumps.filter(({ nsu }) => nsu >= firstNsu && nsu <= lastNsu);
    if (gaps.length === maxGaps || gaps.includes(gap.nsu)) return null;
    gaps.push(gap.nsu);
  }
}

/**
 * An acceptance covers a jump at the same line and of the same amount only. Any other jump needs
 * an acceptance of its own.
 */
async function separateAccepted(
  db: Db,
  accountId: number,
  date: string,
  jumps: Jump[] | null,
): Promise<{ accepted: AcceptedDifference[]; unexplained: UnexplainedDifference | null }> {
  const accepted: AcceptedDifference[] = [];
  const unexplained: UnexplainedDifference = { cents: 0n, jumps: [] };
  if (!jumps || jumps.length === 0) return { accepted, unexplained: null };
  const acceptances = await listAcceptedJumps(db, accountId);
  const lines = await listCutLines(
    db,
    accountId,
    jumps.map(({ nsu }) => nsu),
  );
  let isUnexplained = false;
  for (const jump of jumps) {
    const { nsu, cents } = jump;
    const acceptance = acceptances.find((each) => each.nsu === nsu && each.cents === cents);
    const line = lines.find((each) => each.nsu === nsu);
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
