// The journal entries of months: computed page by page while a month is open, read as they were
// stored once it is closed.
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { RouteInput, RouteOutput } from '../../bank-contract/route.js';
import { statementDayOf, statementMonths } from '../../brazil/statement-day.js';
import { AppError } from '../../platform/errors.js';
import { readPage, toList } from '../../platform/http/listing.js';
import { sha256 } from '../../platform/json/exact-json.js';
import { Database, type Db, type Tx } from '../../platform/postgres/database.service.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { csvFile } from '../exports/csv-file.js';
import { FileStreams, type OpenedFile } from '../exports/file-streams.service.js';
import { xlsxFile } from '../exports/xlsx-file.js';
import { calimaFile } from './calima-file.js';
import { addToDay, fitsAll, readStoredEntries, journalOf, sumsOfLine } from './journal.js';
import type { JournalEntry, JournalState, PostingSum } from './journal.js';
import type { exportJournal, listJournal } from './journal.schema.js';
import { findMapping } from './journal-setup.service.js';
import { journalTable } from './journal-table.js';
import * as queries from './journal.queries.js';

type ListQuery = RouteInput<typeof listJournal>['query'];
type Found = Awaited<ReturnType<typeof findMapping>>;

/** Of lines: what is examined at once, and for one page of a list. */
const chunk = 500;
const maxChunks = 4;
/** Of each kind of unmapped money. */
const shownLines = 10;

interface MonthOf {
  accountId: number;
  month: string;
}

interface Source extends MonthOf {
  mapping: Found;
  /** Of the month's close; null while it is open. */
  revision: number | null;
}

export interface UnmappedMoney {
  isCredit: boolean;
  lineKind: string;
  classification: string;
  category: string | null;
  lines: number;
  cents: bigint;
  /** The first of the lines. */
  nsus: bigint[];
}

@Injectable()
export class Journals {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
    private readonly streams: FileStreams,
  ) {}

  /** Throws `not_found` for a month that has not begun, or before the first line. */
  async list(
    accountId: number,
    month: string,
    query: ListQuery,
  ): Promise<RouteOutput<typeof listJournal>> {
    const source = await this.sourceOf(accountId, month);
    const page = readPage({ ...query, order: 'asc' }, (key) => /^\d{1,15}\.\d{1,18}$/.test(key));
    const { state = 'entry' } = query;
    const rows: JournalEntry[] = [];
    let place: queries.LinePlace | null =
      page.after === null ? startOf(month) : placeOf(page.after);
    for (let read = 0; place && read < maxChunks && rows.length <= page.limit; read += 1) {
      const after: queries.LinePlace = place;
      const found = await this.streams.read(() => this.read(source, state, after));
      rows.push(...found.entries);
      place = found.last;
    }
    const lastExamined = place && keyOf(place);
    return toList({ rows: rows.slice(0, page.limit + 1), lastExamined }, page, keyOf, viewOf);
  }

  /** Throws `not_found` for a month that has not begun, `rate_limited` with many open files. */
  async file(
    accountId: number,
    month: string,
    { format }: RouteInput<typeof exportJournal>['query'],
  ): Promise<OpenedFile> {
    return this.streams.open(accountId, async () => {
      const { slug } = await this.accounts.get(accountId);
      const source = await this.sourceOf(accountId, month);
      const name = `concilia-${slug}-lancamentos-${month}`;
      const file = fileOf[format]();
      return this.streams.stream(name, file, this.rowsOf(source));
    });
  }

  /** The rows of the file; none without a mapping. */
  async *rows(accountId: number, month: string): AsyncGenerator<PostingSum[]> {
    yield* this.rowsOf(await this.sourceOf(accountId, month));
  }

  private rowsOf(source: Source): AsyncGenerator<PostingSum[]> {
    return source.mapping?.per === 'day' ? this.daysOf(source) : this.linesOf(source);
  }

  /** What no entry of the mapping fits, the largest sum first; all without a mapping. */
  async listUnmapped(accountId: number, month: string): Promise<UnmappedMoney[]> {
    const source = await this.sourceOf(accountId, month);
    const sums = new Map<string, UnmappedMoney>();
    for await (const { nsu, parts } of this.each(source, 'unmapped')) {
      const ofLine = new Set<UnmappedMoney>();
      for (const part of parts.filter(({ debitCode }) => debitCode === null)) {
        const { isCredit, lineKind, classification, category } = part;
        const key = JSON.stringify([isCredit, lineKind, classification, category]);
        const money = { isCredit, lineKind, classification, category };
        const sum = sums.get(key) ?? { ...money, lines: 0, cents: 0n, nsus: [] };
        sums.set(key, sum);
        ofLine.add(sum);
        sum.cents += part.amountCents;
      }
      for (const sum of ofLine) {
        sum.lines += 1;
        if (sum.nsus.length < shownLines) sum.nsus.push(nsu);
      }
    }
    return [...sums.values()].sort((a, b) => (a.cents < b.cents ? 1 : -1));
  }

  /**
   * For the close of the month: its unmapped lines, with the sum of their money. Null for an
   * account without a mapping.
   */
  async findUnmapped(db: Db, { accountId, month }: MonthOf) {
    const mapping = await findMapping(db, accountId);
    if (!mapping) return null;
    // The checklist is read often, and most mappings end with an entry for all that is left.
    if (fitsAll(mapping)) return { count: 0, cents: 0n, since: null, seen: '' };
    const nsus: bigint[] = [];
    let cents = 0n;
    let since: string | null = null;
    const source = { accountId, month, mapping, revision: null };
    for await (const { nsu, occurredAt, parts } of this.each(source, 'unmapped', db)) {
      nsus.push(nsu);
      since ??= statementDayOf(occurredAt);
      cents += parts.reduce((sum, { amountCents }) => sum + amountCents, 0n);
    }
    const seen = nsus.length === 0 ? '' : sha256(nsus.join(' '));
    return { count: nsus.length, cents, since, seen };
  }

  /**
   * Stores the entries of a month that is closed, in the transaction and under the locks of the
   * close. Null for an account without a mapping.
   */
  async store(tx: Tx, key: queries.JournalKey) {
    const { accountId, month, revision } = key;
    const mapping = await findMapping(tx, accountId);
    if (!mapping) return null;
    const chart = await tx.chartOfAccounts.aggregate({
      where: { accountId },
      _max: { version: true },
    });
    const chartVersion = chart._max.version ?? mapping.chartVersion;
    const { version: mappingVersion } = mapping;
    await tx.journal.create({
      data: { accountId, month, revision, chartVersion, mappingVersion },
    });
    let lines = 0;
    let cents = 0n;
    const source = { accountId, month, mapping, revision: null };
    for await (const entries of this.pages(source, 'entry', tx)) {
      await queries.insertPostings(tx, { ...key, chartVersion }, entries);
      lines += entries.length;
      for (const { parts } of entries)
        cents += parts.reduce((sum, { amountCents }) => sum + amountCents, 0n);
    }
    return { chartVersion, mappingVersion, lines, cents };
  }

  private async sourceOf(accountId: number, month: string): Promise<Source> {
    const today = await this.bankTime.today(accountId);
    const { prisma: db } = this.database;
    const where = { accountId, occurredAt: { lt: endOf(month) } };
    if (month > today.slice(0, 7) || !(await db.statementLine.findFirst({ where })))
      throw new AppError('not_found');
    const mapping = await findMapping(db, accountId);
    return {
      accountId,
      month,
      mapping,
      revision: await queries.findRevision(db, accountId, month),
    };
  }

  private async *linesOf(source: Source): AsyncGenerator<PostingSum[]> {
    for await (const entries of this.pages(source, 'entry')) yield entries.flatMap(sumsOfLine);
  }

  /** Lines come in the order of their days. */
  private async *daysOf(source: Source): AsyncGenerator<PostingSum[]> {
    const sums = new Map<string, PostingSum>();
    let day: string | null = null;
    for await (const entry of this.each(source, 'entry')) {
      const next = statementDayOf(entry.occurredAt);
      if (day !== null && day !== next) {
        yield [...sums.values()];
        sums.clear();
      }
      day = next;
      addToDay(sums, entry);
    }
    yield [...sums.values()];
  }

  private async *each(source: Source, state: JournalState, db?: Db): AsyncGenerator<JournalEntry> {
    for await (const entries of this.pages(source, state, db)) yield* entries;
  }

  private async *pages(
    source: Source,
    state: JournalState,
    db?: Db,
  ): AsyncGenerator<JournalEntry[]> {
    let place: queries.LinePlace | null = startOf(source.month);
    while (place) {
      const after: queries.LinePlace = place;
      const found = db
        ? await this.read(source, state, after, db)
        : await this.streams.read(() => this.read(source, state, after));
      yield found.entries;
      place = found.last;
    }
  }

  private async read(
    { accountId, month, mapping, revision }: Source,
    state: JournalState,
    after: queries.LinePlace,
    db: Db = this.database.prisma,
  ): Promise<{ entries: JournalEntry[]; last: queries.LinePlace | null }> {
    const key = revision === null ? null : { accountId, month, revision };
    if (key && state === 'entry') {
      const stored = await queries.listStoredPostings(db, key, { after, limit: chunk });
      const entries = readStoredEntries(stored);
      return { entries, last: entries.length < chunk ? null : entries.at(-1)! };
    }
    const until = endOf(month);
    const lines = await queries.listJournalLines(db, accountId, { until, after, limit: chunk });
    const entries = lines
      .flatMap((line) => journalOf(line, mapping) ?? [])
      .filter((entry) => entry.state === state);
    const nsus = entries.map(({ nsu }) => nsu);
    const posted = key ? await queries.listEnteredLines(db, key, nsus) : new Set<bigint>();
    return {
      entries: entries.filter(({ nsu }) => !posted.has(nsu)),
      last: lines.length < chunk ? null : lines.at(-1)!,
    };
  }
}

const startOf = (month: string): queries.LinePlace => ({
  ...{ occurredAt: statementMonths(month).from, nsu: -1n },
});
const endOf = (month: string): Date => statementMonths(month).until;
const fileOf = {
  csv: () => csvFile(journalTable, 'people'),
  xlsx: () => xlsxFile(journalTable),
  calima: () => calimaFile,
};
const keyOf = ({ occurredAt, nsu }: queries.LinePlace) => `${occurredAt.getTime()}.${nsu}`;

function placeOf(key: string): queries.LinePlace {
  const [time = '', nsu = ''] = key.split('.');
  return { occurredAt: new Date(Number(time)), nsu: BigInt(nsu) };
}

function viewOf({ nsu, occurredAt, state, parts }: JournalEntry) {
  return {
    ...{ nsu, state, date: statementDayOf(occurredAt) },
    postings: parts.map(({ isCredit, amountCents: amount, debitCode, creditCode, ...part }) => ({
      ...{ ...part, amount, debit: debitCode, credit: creditCode },
      direction: isCredit ? ('credit' as const) : ('debit' as const),
    })),
  };
}
