// Recomputes the book's chain from the database alone: each line against its content and its seal, each certificate
// against the one before, each day against its lines. Reads one snapshot, so that it can run beside the service.
import { addDays } from '../brazil/calendar.js';
import { statementDayStart } from '../brazil/statement-day.js';
import type { Database, Db } from '../database.service.js';
import { centsOf, cutOf, noHash, readCertificate, type Certificate } from './certificate.js';
import { differenceOfDay, differenceOfLink, differs } from './chain-check.js';
import { heldAt, sumOf, type Cut } from './cut.js';
import * as closes from './day-closes.queries.js';
import { differenceOfLine, type Difference } from './stored-line.js';
import { linesHashOf } from './line-hash.js';
import { StatementCheck, type Chain } from './statement-check.js';
import { listEarlierCertifiedLines, readAnchor, sumLines } from './certified-lines.queries.js';
import * as queries from './verification.queries.js';

const batchSize = 2_000;
const longestMs = 6 * 3_600_000;

export interface Counts {
  lines: number;
  sealed: number;
  /** Of these, lines whose personal data was erased. */
  erased: number;
  /** Lines of certified days, or of before them, that came late and whose amendment is still to be made. */
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

interface Book {
  db: Db;
  accountId: number;
  account: string;
  chain: Chain;
  counts: Counts;
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
      const book = { db, accountId, account, chain, counts };
      await this.verifyDays(book, await this.verifyLines(book));
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
    const told = await queries.findReported(db, accountId);
    if (told) hold(differs(told.date, `certificate ${told.sequence}`, told.hash, 'none'));
    return { state, days };
  }

  /** The mirror: every line is what came from the bank and what was certified, and no balance jumps. */
  private async verifyLines(book: Book): Promise<StatementCheck> {
    const { db, accountId, account, chain, counts } = book;
    const mirror = await queries.readSyncedLines(db, accountId);
    const check = new StatementCheck(chain, mirror, await acceptedGaps(db, accountId, chain));
    for (let afterNsu: bigint | null = null, isMore = true; isMore;) {
      const lines: queries.StoredLine[] = await queries.listStored(db, accountId, afterNsu, batchSize);
      isMore = lines.length === batchSize;
      for (const line of lines) hold(differenceOfLine(accountId, line));
      hold(check.take(lines, isMore));
      afterNsu = lines.at(-1)?.nsu ?? afterNsu;
      counts.lines += lines.length;
      counts.sealed += lines.filter(({ certifiedDate }) => certifiedDate !== null).length;
      counts.erased += lines.filter(({ isErased }) => isErased).length;
      if (lines.length > 0) this.tell(`${account}: ${counts.lines} lines`);
    }
    counts.waiting = check.waiting.length;
    const lost = await queries.findLost(db, accountId);
    if (lost) hold({ ...lost, field: 'line', certified: 'a line', found: 'none' });
    hold(check.differenceOfStatement());
    return check;
  }

  /** Each day: its lines are those that were certified, its opening is the closing of the day before. */
  private async verifyDays(book: Book, mirror: StatementCheck): Promise<void> {
    const { db, accountId, account, chain, counts } = book;
    let before: Certificate | null = null;
    for (const [date, revisions] of [...chain.days].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const sealed = await queries.listCertifiedLines(db, accountId, date);
      const addedLater = new Set<string>();
      for (const said of [...revisions].reverse()) {
        hold(differenceOfDay(said, sealed, addedLater));
        if (!before) hold(await differenceOfEarlier(db, accountId, said, addedLater));
        for (const nsu of said.added) addedLater.add(nsu);
      }
      const standing = revisions.at(-1) as Certificate;
      if (mirror.isSettled(standing)) {
        // What is still to be amended may begin otherwise than what was amended before it ends.
        const anchor = before ? cutOf(before) : await openingOf(db, accountId, date);
        hold(differs(date, 'opening', heldAt(anchor), centsOf(standing.opening)));
        hold(await differenceOfBalance(db, accountId, anchor, standing, mirror));
      }
      before = standing;
      counts.days += 1;
      if (counts.days % 100 === 0) this.tell(`${account}: ${counts.days} days`);
    }
  }
}

/** What the chain has accepted holes for: what certificates state, and what persons have settled since. */
async function acceptedGaps(db: Db, accountId: number, { days }: Chain): Promise<Set<bigint>> {
  const standing = [...days.values()].flatMap((revisions) => revisions.at(-1) ?? []);
  const stated = standing.flatMap((said) => cutOf(said).differences.map(({ nsu }) => nsu));
  const settled = await closes.listAcceptedJumps(db, accountId);
  return new Set([...stated, ...settled.map(({ nsu }) => nsu)]);
}

/** The lines before the first certified day are those that its certificate has. */
async function differenceOfEarlier(
  db: Db,
  accountId: number,
  { date, earlier }: Certificate,
  addedLater: ReadonlySet<string>,
): Promise<Difference | null> {
  const seals = await listEarlierCertifiedLines(db, accountId, date);
  const lines = seals.filter(({ nsu }) => !addedLater.has(nsu.toString()));
  const linesHash = linesHashOf(lines.map(({ lineHash }) => lineHash));
  return (
    differs(date, 'earlier lines', earlier?.lines ?? null, lines.length) ??
    differs(date, 'earlier lines', earlier?.linesHash ?? null, linesHash)
  );
}

/** The balance and the reconciling items that the closing was held against are the mirror's. */
async function differenceOfBalance(
  db: Db,
  accountId: number,
  before: Cut,
  said: Certificate,
  mirror: StatementCheck,
): Promise<Difference | null> {
  const { nsu, balanceCents, items, differences } = cutOf(said);
  if (nsu !== null) {
    const lines = await sumLines(db, accountId, before.nsu, nsu);
    const jumped = sumOf(differences) - sumOf(before.differences);
    const found = before.balanceCents + lines + jumped;
    const difference = differs(said.date, 'balance', balanceCents, found);
    if (difference) return { ...difference, nsu };
  }
  const nsus = items.map((item) => item.nsu);
  const money = await queries.listMoney(db, accountId, nsus);
  const lines = new Map(money.map((line) => [line.nsu, line.signedCents]));
  const found = [
    ...items.map((item) => ({ item, cents: lines.get(item.nsu) ?? null })),
    ...differences
      .filter(({ nsu }) => mirror.hasWalked(nsu))
      .map((item) => ({ item, cents: mirror.walk.jumps.get(item.nsu) ?? null })),
  ];
  for (const { item, cents } of found) {
    const difference = differs(said.date, 'reconciling item', item.signedCents, cents);
    if (difference) return { ...difference, nsu: item.nsu };
  }
  return null;
}

async function openingOf(db: Db, accountId: number, date: string): Promise<Cut> {
  return readAnchor(db, accountId, statementDayStart(date));
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
