// Files of the statement, written while they are read: memory stays flat however many lines there are.
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import { addDays, daysBetween, type PlainDate } from '../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../brazil/statement-day.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { AppError } from '../platform/errors.js';
import { Log } from '../platform/log.js';
import { BankTime } from '../statement/bank-time.service.js';
import { cnab240File, cnabDays, mostCnabLines } from './cnab240-file.js';
import { csvFile } from './csv-file.js';
import type { ExportedLine, NamedAccount, StatementFile } from './exported-line.js';
import * as queries from './exports.queries.js';
import type { exportTransactions } from './exports.schema.js';
import { ofxFile } from './ofx-file.js';
import { ReadingLimits } from './reading-limits.service.js';

type ExportQuery = RouteInput<typeof exportTransactions>['query'];

const mostDays = 366;
const pageLines = 5_000;
/** What is handed on at once: a file is made in pieces that a slow client can be waited for. */
const pieceLines = 500;
/** Whoever takes nothing for so long is not waited for: a file that is open is one of few. */
const patienceMs = 5 * 60_000;

@Injectable()
export class TransactionFiles {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly bankTime: BankTime,
    private readonly limits: ReadingLimits,
    private readonly log: Log,
  ) {}

  /**
   * Throws `validation_failed` for a period that cannot be had, `rule_broken` for one that its format cannot hold, and
   * `rate_limited` where the account has too many files open.
   */
  async open(accountId: number, query: ExportQuery) {
    const end = this.limits.beginFile(accountId);
    try {
      const file = await this.prepare(accountId, query);
      // Also where nobody ever reads it.
      file.body.once('close', end);
      return file;
    } catch (error) {
      end();
      throw error;
    }
  }

  private async prepare(accountId: number, query: ExportQuery) {
    const now = await this.bankTime.now(accountId);
    const today = saoPauloDay(now);
    const { from, to } = periodOf(query, today);
    const window = { from: statementDayStart(from), until: statementDayStart(addDays(to, 1)) };
    const db = this.database.prisma;
    const extent = await this.limits.inTurn(() => queries.readExtent(db, accountId, window));
    if (query.format === 'cnab240' && extent.count > mostCnabLines)
      throw new AppError('rule_broken', {
        reason: 'too_many_lines',
        public: `A CNAB 240 file holds at most ${mostCnabLines} lines: ask for fewer days.`,
      });
    const { slug } = await this.accounts.get(accountId);
    const { bankCode = null, branch = null, accountNumber = null } = query;
    const account: NamedAccount = { slug, bankCode, branch, accountNumber };
    const period = async () => ({
      from,
      to,
      openingCents: await this.limits.inTurn(() =>
        queries.readOpening(db, accountId, window, extent),
      ),
      isPartial: to >= today,
      generatedAt: now,
    });
    const stream = <Line extends ExportedLine>(file: StatementFile<Line>, list: Lister<Line>) => ({
      name: `concilia-${slug}-${from}-${to}.${file.extension}`,
      contentType: file.contentType,
      body: whileTaken(this.write(file, this.read(accountId, window, extent, list))),
    });
    switch (query.format) {
      case 'csv':
        return stream(csvFile(query.delimiter), queries.listExplainedLines);
      case 'ofx':
        return stream(ofxFile(account, await period()), queries.listLines);
      case 'cnab240':
        return stream(cnab240File(account, await period()), queries.listLines);
    }
  }

  /** The window's lines, page after page; the next is asked for when the last has been taken. */
  private async *read<Line extends ExportedLine>(
    accountId: number,
    window: queries.Window,
    { arrival, firstNsu, lastNsu }: queries.Extent,
    list: Lister<Line>,
  ): AsyncGenerator<Line[]> {
    if (firstNsu === null || lastNsu === null) return;
    for (let afterNsu = firstNsu - 1n; afterNsu < lastNsu;) {
      const page = { ...window, arrival, afterNsu, lastNsu, limit: pageLines };
      const lines = await this.limits.inTurn(() => list(this.database.prisma, accountId, page));
      const last = lines.at(-1);
      if (!last) return;
      yield lines;
      afterNsu = last.nsu;
    }
  }

  /** An error on the way ends the stream by force, so that half a file never looks like a whole one. */
  private async *write<Line extends ExportedLine>(
    file: StatementFile<Line>,
    pages: AsyncIterable<Line[]>,
  ): AsyncGenerator<Buffer> {
    try {
      yield Buffer.from(file.head(), file.encoding);
      for await (const lines of pages)
        for (let at = 0; at < lines.length; at += pieceLines) {
          const piece = lines.slice(at, at + pieceLines).map((line) => file.line(line));
          yield Buffer.from(piece.join(''), file.encoding);
        }
      const foot = file.foot();
      if (foot !== '') yield Buffer.from(foot, file.encoding);
    } catch (error) {
      this.log.error({ err: error }, 'a file was broken off');
      throw error;
    }
  }
}

type Lister<Line> = (
  db: Database['prisma'],
  accountId: number,
  page: queries.PageOfLines,
) => Promise<Line[]>;

/** The pieces as a stream, which ends by force when they are no longer taken. */
function whileTaken(pieces: AsyncIterable<Buffer>): Readable {
  const body = Readable.from(timed(), { objectMode: false, highWaterMark: 1 });
  const patience = setTimeout(() => {
    body.destroy(new Error('Nobody takes the file.'));
  }, patienceMs).unref();
  body.once('close', () => {
    clearTimeout(patience);
  });
  async function* timed() {
    for await (const piece of pieces) {
      patience.refresh();
      yield piece;
    }
  }
  return body;
}

/** The current month up to today, where nothing is asked. */
function periodOf(
  { format, from, to }: ExportQuery,
  today: PlainDate,
): { from: PlainDate; to: PlainDate } {
  const last = to ?? (from !== undefined && from > today ? from : today);
  const first = from ?? `${last.slice(0, 8)}01`;
  if (first > last)
    throw new AppError('validation_failed', { errors: { '$.from': ['Must not be after to.'] } });
  if (daysBetween(first, last) >= mostDays)
    throw new AppError('validation_failed', {
      errors: { '$.to': [`Must be within ${mostDays} days of from.`] },
    });
  if (format === 'cnab240' && (last < cnabDays.first || last > cnabDays.last))
    throw new AppError('validation_failed', {
      errors: {
        [to === undefined ? '$.from' : '$.to']: [
          `Must be from ${cnabDays.first} to ${cnabDays.last} in a CNAB 240 file.`,
        ],
      },
    });
  return { from: first, to: last };
}
