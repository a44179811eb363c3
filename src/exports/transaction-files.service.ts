// Writes statement files while the lines are read, so that memory stays flat for any number of
// lines. A file that fails half-way ends its stream with an error, and never looks complete.
import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AccountsService } from '../accounts/accounts.service.js';
import type { BankDetails } from '../accounts/bank-details.schema.js';
import { addDays, daysBetween, type PlainDate } from '../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../brazil/statement-day.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { invalidField, ruleBroken } from '../platform/errors.js';
import { Log } from '../platform/log.js';
import { BankTime } from '../statement/bank-time.service.js';
import { cnab240File, cnabDays, maxCnabLines, type CnabAccount } from './cnab240-file.js';
import { csvFile } from './csv-file.js';
import { AccountDetails } from './account-details.service.js';
import type { ExportFile, ExportedLine } from './exported-line.js';
import * as queries from './exports.queries.js';
import type { exportTransactions } from './exports.schema.js';
import { counterpartyOf } from './line-counterparty.js';
import { ofxFile } from './ofx-file.js';
import { ReadingLimits } from './reading-limits.service.js';
import { statementTable } from './statement-table.js';

type ExportQuery = RouteInput<typeof exportTransactions>['query'];

const maxDays = 366;
const pageLines = 5_000;
/** Lines per chunk. The next chunk is written when the client has read the last one. */
const chunkLines = 500;
/** A client that reads nothing for this long is cut off, because it occupies one of few files. */
const idleTimeoutMs = 5 * 60_000;

@Injectable()
export class TransactionFiles {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly details: AccountDetails,
    private readonly bankTime: BankTime,
    private readonly limits: ReadingLimits,
    private readonly log: Log,
  ) {}

  /**
   * Throws `validation_failed` for an invalid period, `rule_broken` for a period that the format
   * cannot hold, and `rate_limited` if the account has too many open files.
   */
  async open(accountId: number, query: ExportQuery) {
    const endFile = this.limits.beginFile(accountId);
    try {
      const file = await this.prepare(accountId, query);
      // `close` is emitted also if nobody ever reads the body.
      file.body.once('close', endFile);
      return file;
    } catch (error) {
      endFile();
      throw error;
    }
  }

  private async prepare(accountId: number, query: ExportQuery) {
    const now = await this.bankTime.now(accountId);
    const today = saoPauloDay(now);
    const { from, to } = periodOf(query, today);
    const window = { from: statementDayStart(from), until: statementDayStart(addDays(to, 1)) };
    const db = this.database.prisma;
    const extent = await this.limits.withReadSlot(() =>
      queries.readLineExtent(db, accountId, window),
    );
    if (query.format === 'cnab240' && extent.count > maxCnabLines)
      throw ruleBroken(
        'too_many_lines',
        `A CNAB 240 file can hold at most ${maxCnabLines} lines. Request fewer days.`,
      );
    const account = await this.accounts.get(accountId);
    const period = async () => ({
      from,
      to,
      openingCents: await this.limits.withReadSlot(() =>
        queries.readOpeningBalance(db, accountId, window, extent),
      ),
      isPartial: to >= today,
      generatedAt: now,
    });
    const stream = (file: ExportFile<ExportedLine>) => ({
      name: `concilia-${account.slug}-${from}-${to}.${file.extension}`,
      contentType: file.contentType,
      body: withIdleTimeout(this.write(file, this.readLines(accountId, window, extent))),
    });
    switch (query.format) {
      case 'csv':
        return stream(csvFile(statementTable, query.delimiter));
      case 'ofx':
        return stream(ofxFile(await this.details.get(account), await period()));
      case 'cnab240':
        return stream(cnab240File(cnabAccountOf(await this.details.get(account)), await period()));
    }
  }

  /**
   * The lines of the window, in chunks. They are read page by page: a page is read after the
   * previous page was consumed.
   */
  private async *readLines(
    accountId: number,
    window: queries.Window,
    { arrival, firstNsu, lastNsu }: queries.LineExtent,
  ): AsyncGenerator<ExportedLine[]> {
    if (firstNsu === null || lastNsu === null) return;
    for (let afterNsu = firstNsu - 1n; afterNsu < lastNsu;) {
      const page = { ...window, arrival, afterNsu, lastNsu, limit: pageLines };
      const lines = await this.limits.withReadSlot(() =>
        queries.listExportedLines(this.database.prisma, accountId, page),
      );
      const last = lines.at(-1);
      if (!last) return;
      for (let at = 0; at < lines.length; at += chunkLines)
        yield lines
          .slice(at, at + chunkLines)
          .map((line) => ({ ...line, counterparty: counterpartyOf(line) }));
      afterNsu = last.nsu;
    }
  }

  /** An error destroys the stream, so that an incomplete file never looks complete. */
  private async *write<Row>(
    file: ExportFile<Row>,
    chunks: AsyncIterable<Row[]>,
  ): AsyncGenerator<Buffer> {
    try {
      yield Buffer.from(file.head(), file.encoding);
      for await (const rows of chunks)
        yield Buffer.from(rows.map((row) => file.row(row)).join(''), file.encoding);
      const foot = file.foot();
      if (foot !== '') yield Buffer.from(foot, file.encoding);
    } catch (error) {
      this.log.error({ err: error }, 'export file failed');
      throw error;
    }
  }
}

function cnabAccountOf(details: BankDetails): CnabAccount {
  const { bankCode } = details;
  if (bankCode === null)
    throw ruleBroken(
      'bank_code_missing',
      'A CNAB 240 file states the three-digit code of the bank, and bankDetails has none.',
    );
  return { ...details, bankCode };
}

/** The chunks as a stream, which is destroyed when the client stops reading. */
function withIdleTimeout(chunks: AsyncIterable<Buffer>): Readable {
  const body = Readable.from(timed(), { objectMode: false, highWaterMark: 1 });
  const timer = setTimeout(() => {
    body.destroy(new Error('the client stopped reading the export file'));
  }, idleTimeoutMs).unref();
  body.once('close', () => {
    clearTimeout(timer);
  });
  async function* timed() {
    for await (const chunk of chunks) {
      timer.refresh();
      yield chunk;
    }
  }
  return body;
}

/** The requested period. The default is the current month up to today. */
function periodOf(
  { format, from, to }: ExportQuery,
  today: PlainDate,
): { from: PlainDate; to: PlainDate } {
  const last = to ?? (from !== undefined && from > today ? from : today);
  const first = from ?? `${last.slice(0, 8)}01`;
  if (first > last) throw invalidField('$.from', 'Must not be after to.');
  if (daysBetween(first, last) >= maxDays)
    throw invalidField('$.to', `Must be within ${maxDays} days of from.`);
  if (format === 'cnab240' && (last < cnabDays.first || last > cnabDays.last))
    throw invalidField(
      to === undefined ? '$.from' : '$.to',
      `Must be from ${cnabDays.first} to ${cnabDays.last} in a CNAB 240 file.`,
    );
  return { from: first, to: last };
}
