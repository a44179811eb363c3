// Recomputes the book's chain from the database alone: each line against its content and its seal, each certificate
// against the one before, each day against its lines. Reads one snapshot, so that it can run beside the service.
import { addDays } from '../brazil/calendar.js';
import { statementDayOf, statementDayStart } from '../brazil/statement-day.js';
import type { Database, Db } from '../database.service.js';
import { centsOf, cutOf, noHash, readCertificate, type Certificate } from './certificate.js';
import { differenceOfDay, differenceOfLink } from './chain-check.js';
import { heldAt } from './cut.js';
import * as closes from './day-closes.queries.js';
import { differenceOfLine, type Difference } from './kept-line.js';
import * as queries from './verification.queries.js';

const batchSize = 2_000;
const longestMs = 6 * 3_600_000;

export interface Counts {
  lines: number;
  sealed: number;
  /** Of these, lines whose personal data was erased. */
  erased: number;
  /** Lines of certified days that came late, and whose amendment is still to be made. */
  waiting: number;
  days: number;
  certificates: number;
}

export interface Verified {
  account: string;
  counts: Counts;
  /** The first; null where all is as it was certified. */
  difference: Difference | null;
}

/** What the chain says, but for its texts. */
interface Chain {
  state: closes.ClosingState | null;
  /** Every revision of a day, oldest first. */
  days: Map<string, Certificate[]>;
}

/** Raised at the first difference, and caught where the account is verified. */
class Differs extends Error {
  constructor(readonly difference: Difference) {
    super('differs');
  }
}

function hold(difference: Difference | null): void {
  if (difference) throw new Differs(difference);
}

export class Verifier {
  constructor(
    private readonly database: Database,
    private readonly tell: (message: string) => void,
  ) {}

  /** Each account by itself, or one, in one snapshot: what is tampered with in one says nothing of another. */
  async verify(only?: string): Promise<Verified[]> {
    return this.database.prisma.$transaction(
      async (db) => {
        const accounts = await db.bankAccount.findMany({
          ...(only === undefined ? {} : { where: { slug: only } }),
          orderBy: { id: 'asc' },
        });
        const verified: Verified[] = [];
        for (const { id, slug } of accounts) verified.push(await this.verifyAccount(db, id, slug));
        return verified;
      },
      { isolationLevel: 'RepeatableRead', maxWait: 10_000, timeout: longestMs },
    );
  }

  private async verifyAccount(db: Db, accountId: number, account: string): Promise<Verified> {
    const counts: Counts = { lines: 0, sealed: 0, erased: 0, waiting: 0, days: 0, certificates: 0 };
    try {
      const chain = await this.verifyLinks(db, accountId, counts);
      await this.verifyLines(db, accountId, account, chain, counts);
      await this.verifyDays(db, accountId, account, chain, counts);
      return { account, counts, difference: null };
    } catch (error) {
      if (!(error instanceof Differs)) throw error;
      return { account, counts, difference: error.difference };
    }
  }

  /** The chain by itself: every text has its hash, and holds that of the one before. */
  private async verifyLinks(db: Db, accountId: number, counts: Counts): Promise<Chain> {
    const state = await closes.findState(db, accountId);
    const days = new Map<string, Certificate[]>();
    let before = { sequence: 0, hash: noHash };
    for (;;) {
      const links = await queries.listLinks(db, accountId, before.sequence, batchSize);
      for (const link of links) {
        hold(differenceOfLink(link, before));
        const revisions = days.get(link.date) ?? [];
        hold(differs(link.date, 'revision', revisions.length + 1, link.revision));
        days.set(link.date, [...revisions, readCertificate(link.certificate)]);
        before = link;
        counts.certificates += 1;
      }
      if (links.length < batchSize) break;
    }
    hold(daysInOrder(days, state));
    return { state, days };
  }

  /** The mirror: every line is what came from the bank and what was certified, and no balance jumps. */
  private async verifyLines(
    db: Db,
    accountId: number,
    account: string,
    { state, days }: Chain,
    counts: Counts,
  ): Promise<void> {
    const { firstHoleNsu, documentsSince } = await queries.readTolerances(db, accountId);
    const [firstDate] = days.keys();
    let before: queries.KeptLine | null = null;
    for (;;) {
      const afterNsu: bigint | null = before?.nsu ?? null;
      const lines = await queries.listKept(db, accountId, afterNsu, batchSize);
      for (const line of lines) {
        hold(differenceOfLine(accountId, line, documentsSince));
        if (firstHoleNsu === null || line.nsu < firstHoleNsu) hold(jump(before, line));
        if (line.sealDate !== null) counts.sealed += 1;
        else if (firstDate !== undefined && this.isLeftOut(line, firstDate, state)) {
          const date = statementDayOf(line.occurredAt);
          hold({ date, nsu: line.nsu, field: 'line', certified: 'none', found: 'a line' });
        } else if (firstDate !== undefined && isOfClosedDay(line, firstDate, state))
          counts.waiting += 1;
        if (line.isErased) counts.erased += 1;
        before = line;
        counts.lines += 1;
      }
      if (lines.length > 0) this.tell(`${account}: ${counts.lines} lines`);
      if (lines.length < batchSize) break;
    }
    const lost = await queries.findLost(db, accountId);
    if (lost) hold({ ...lost, field: 'line', certified: 'a line', found: 'none' });
  }

  /** A line of a certified day that no certificate has, though it was seen and nothing is to be amended for it. */
  private isLeftOut(
    line: queries.KeptLine,
    firstDate: string,
    state: closes.ClosingState | null,
  ): boolean {
    if (!state || !isOfClosedDay(line, firstDate, state) || line.arrival > state.seenArrival)
      return false;
    return state.amendFrom === null || statementDayOf(line.occurredAt) < state.amendFrom;
  }

  /** Each day: its lines are those that were certified, its opening is the closing of the day before. */
  private async verifyDays(
    db: Db,
    accountId: number,
    account: string,
    { state, days }: Chain,
    counts: Counts,
  ): Promise<void> {
    let closing: string | null = null;
    for (const [date, revisions] of [...days].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const sealed = await queries.listSealed(db, accountId, date);
      const addedLater = new Set<string>();
      for (const said of [...revisions].reverse()) {
        hold(differenceOfDay(said, sealed, addedLater));
        for (const nsu of said.added) addedLater.add(nsu);
      }
      const standing = revisions.at(-1) as Certificate;
      hold(await this.differenceOfBalance(db, accountId, standing));
      // What is still to be amended may begin otherwise than what was amended before it ends.
      if (!state?.amendFrom || date < state.amendFrom) {
        const anchor = closing === null ? await openingOf(db, accountId, date) : centsOf(closing);
        hold(differs(date, 'opening', anchor, centsOf(standing.opening)));
      }
      closing = standing.closing;
      counts.days += 1;
      if (counts.days % 100 === 0) this.tell(`${account}: ${counts.days} days`);
    }
  }

  /** The balance and the reconciling items that the closing was held against are the mirror's. */
  private async differenceOfBalance(
    db: Db,
    accountId: number,
    said: Certificate,
  ): Promise<Difference | null> {
    const { nsu, balanceCents, items } = cutOf(said);
    const nsus = [...(nsu === null ? [] : [nsu]), ...items.map((item) => item.nsu)];
    const lines = new Map(
      (await queries.listMoney(db, accountId, nsus)).map((line) => [line.nsu, line]),
    );
    if (nsu !== null) {
      const found = lines.get(nsu)?.currentBalanceCents ?? null;
      const difference = differs(said.date, 'balance', balanceCents, found);
      if (difference) return { ...difference, nsu };
    }
    for (const item of items) {
      const found = lines.get(item.nsu)?.signedCents ?? null;
      const difference = differs(said.date, 'reconciling item', item.signedCents, found);
      if (difference) return { ...difference, nsu: item.nsu };
    }
    return null;
  }
}

type Shown = string | number | bigint | null;

function differs(date: string, field: string, certified: Shown, found: Shown): Difference | null {
  if (certified === found) return null;
  return { date, nsu: null, field, certified: `${certified}`, found: `${found}` };
}

async function openingOf(db: Db, accountId: number, date: string): Promise<bigint> {
  return heldAt(await closes.readAnchor(db, accountId, statementDayStart(date)));
}

/** Days follow each other without a gap, up to the next that is to be closed. */
function daysInOrder(
  days: Map<string, Certificate[]>,
  state: closes.ClosingState | null,
): Difference | null {
  const dates = [...days.keys()].sort();
  const [first] = dates;
  if (first === undefined) return null;
  let next = first;
  for (const date of dates) {
    if (date !== next) return differs(next, 'certificate', 'one', 'none');
    next = addDays(next, 1);
  }
  return differs(next, 'next day to close', next, state?.nextDate ?? 'none');
}

function isOfClosedDay(
  { occurredAt }: queries.KeptLine,
  firstDate: string,
  state: closes.ClosingState | null,
): boolean {
  const date = statementDayOf(occurredAt);
  return state !== null && date >= firstDate && date < state.nextDate;
}

/** A line's balances follow from its amount, and from the balance of the line before. */
function jump(before: queries.KeptLine | null, line: queries.KeptLine): Difference | null {
  const signedCents = line.isCredit ? line.amountCents : -line.amountCents;
  const date = statementDayOf(line.occurredAt);
  const own = line.balancePreviousCents + signedCents;
  const { nsu, currentBalanceCents, balancePreviousCents } = line;
  if (own !== currentBalanceCents)
    return {
      date,
      nsu,
      field: 'balance after',
      certified: `${own}`,
      found: `${currentBalanceCents}`,
    };
  if (before && before.currentBalanceCents !== balancePreviousCents)
    return {
      ...{ date, nsu, field: 'balance before' },
      certified: `${before.currentBalanceCents}`,
      found: `${balancePreviousCents}`,
    };
  return null;
}
