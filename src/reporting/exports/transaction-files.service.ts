// Opens files of statement lines: their period, the account that they state, and their lines, which
// are read page by page while the file is written.
import { Injectable } from '@nestjs/common';
import { fieldError } from '../../bank-contract/field-errors.js';
import { AccountsService } from '../../access/accounts/accounts.service.js';
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import { BankService } from '../../bank/bank.service.js';
import { visibilityBoundOrDefaultMs } from '../../bank/profiles.js';
import { addDays, daysBetween, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloDay, statementDayStart } from '../../brazil/statement-day.js';
import type { RouteInput } from '../../bank-contract/route.js';
import {
  counterpartyIn,
  findCounterparties,
} from '../../access/counterparties/counterparties.queries.js';
import {
  seesPersonalData,
  shownCounterparty,
} from '../../access/counterparties/counterparty.schema.js';
import { Database } from '../../platform/postgres/database.service.js';
import { invalidField, ruleBroken } from '../../platform/errors.js';
import { codingTexts } from '../../reconciliation/decide/line-coding.js';
import { listCodingFacts } from '../../reconciliation/load/line-coding.queries.js';
import { BankTime } from '../../statement/lines/bank-time.service.js';
import { AccountDetails } from './account-details.service.js';
import { cnab240File, maxCnabLines, type CnabAccount } from './cnab240-file.js';
import { csvFile } from './csv-file.js';
import type { ExportedLine } from './exported-line.js';
import * as queries from './exports.queries.js';
import type { exportTransactions } from './exports.schema.js';
import { fileNumberOf } from './file-numbers.queries.js';
import { FileStreams, type FileCaller, type OpenedFile } from './file-streams.service.js';
import { ofxFile } from './ofx-file.js';
import { statementTable } from './statement-table.js';
import { maxSheetRows, xlsxFile } from './xlsx-file.js';

type ExportQuery = RouteInput<typeof exportTransactions>['query'];

const maxDays = 366;
/** Zones were no whole number of hours until 1914. The last plain date has no next day. */
const [earliestDay, latestDay] = ['1970-01-01', '2199-12-30'];
const pageLines = 5_000;
const chunkLines = 500;
const maxLinesOf: Partial<Record<ExportQuery['format'], number>> = {
  xlsx: maxSheetRows,
  cnab240: maxCnabLines,
};

@Injectable()
export class TransactionFiles {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly details: AccountDetails,
    private readonly bank: BankService,
    private readonly bankTime: BankTime,
    private readonly streams: FileStreams,
  ) {}

  /**
   * Throws `validation_failed` for an invalid period, `rule_broken` for a period that the format
   * cannot hold, `conflict` if the account that the file states is not set, and `rate_limited` if
   * the account has too many open files.
   */
  async open(caller: FileCaller, query: ExportQuery): Promise<OpenedFile> {
    return this.streams.open(caller.accountId, () => this.prepare(caller, query));
  }

  private async prepare(caller: FileCaller, query: ExportQuery): Promise<OpenedFile> {
    const { accountId } = caller;
    const now = await this.bankTime.now(accountId);
    const today = saoPauloDay(now);
    const { from, to } = periodOf(query, today);
    const window = { from: statementDayStart(from), until: statementDayStart(addDays(to, 1)) };
    const db = this.database.prisma;
    // Before the lines: a sync in between must not make a file final that lacks lines.
    const isPartial = !(await this.isComplete(accountId, window.until));
    const extent = await this.streams.read(() => queries.readLineExtent(db, accountId, window));
    const maxLines = maxLinesOf[query.format] ?? extent.count;
    if (extent.count > maxLines)
      throw ruleBroken(
        'too_many_lines',
        `A file of format ${query.format} can hold at most ${maxLines} lines. Request fewer days.`,
      );
    const account = await this.accounts.get(accountId);
    const period = async () => ({
      from,
      to,
      openingCents: await this.streams.read(() =>
        queries.readOpeningBalance(db, accountId, window, extent),
      ),
      isPartial,
      generatedAt: now,
    });
    const file = async () => {
      switch (query.format) {
        case 'csv':
          return csvFile(statementTable, query.delimiter);
        case 'xlsx':
          return xlsxFile(statementTable);
        case 'ofx':
          return ofxFile(await this.details.get(account), await period());
        case 'cnab240':
          return cnab240File({
            account: cnabAccountOf(await this.details.get(account)),
            fileNumber: await fileNumberOf(db, accountId, {
              ...{ from, to, isPartial },
              lineCount: extent.count,
            }),
            period: await period(),
          });
      }
    };
    const name = `concilia-${account.slug}-${from}-${to}`;
    return this.streams.stream(name, await file(), this.lines(caller, window, extent));
  }

  /** Whether the statement has every line of the bank from before that instant. */
  private async isComplete(accountId: number, until: Date): Promise<boolean> {
    const boundMs = visibilityBoundOrDefaultMs(this.bank.profile);
    const completeUntil = await this.streams.read(() =>
      queries.readCompleteUntil(this.database.prisma, accountId, boundMs),
    );
    return completeUntil !== null && until <= completeUntil;
  }

  /**
   * The lines of the window, in chunks. They are read page by page: a page is read after the
   * previous page was consumed.
   */
  async *lines(
    { accountId, scopes }: FileCaller,
    window: queries.Window,
    { arrival, firstNsu, lastNsu }: queries.LineExtent,
  ): AsyncGenerator<ExportedLine[]> {
    if (firstNsu === null || lastNsu === null) return;
    const isVisible = seesPersonalData(scopes);
    for (let afterNsu = firstNsu - 1n; afterNsu < lastNsu;) {
      const page = { ...window, arrival, afterNsu, lastNsu, limit: pageLines };
      const lines = await this.streams.read(() =>
        queries.listExportedLines(this.database.prisma, accountId, page),
      );
      const last = lines.at(-1);
      if (!last) return;
      const nsus = lines.map(({ nsu }) => nsu);
      const facts = await this.streams.read(() =>
        listCodingFacts(this.database.prisma, accountId, nsus),
      );
      const counterparties = await this.streams.read(() =>
        findCounterparties(this.database.prisma, accountId, nsus),
      );
      for (let at = 0; at < lines.length; at += chunkLines)
        yield lines.slice(at, at + chunkLines).map((line) => ({
          ...line,
          coding: codingTexts(facts.get(line.nsu)),
          // Banks write the payer's name and message into the notes.
          notes: isVisible ? line.notes : null,
          counterparty: shownCounterparty(counterpartyIn(counterparties, line.nsu), isVisible),
        }));
      afterNsu = last.nsu;
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

/** The requested period. The default is the current month up to today. */
function periodOf(
  { from, to }: Pick<ExportQuery, 'from' | 'to'>,
  today: PlainDate,
): { from: PlainDate; to: PlainDate } {
  const last = to ?? (from !== undefined && from > today ? from : today);
  const first = from ?? `${last.slice(0, 8)}01`;
  if (first < earliestDay)
    throw invalidField(from === undefined ? '$.to' : '$.from', `Must be from ${earliestDay} on.`);
  if (last > latestDay)
    throw invalidField(to === undefined ? '$.from' : '$.to', `Must be at most ${latestDay}.`);
  if (first > last) throw invalidField('$.from', fieldError('after_field', { field: 'to' }));
  if (daysBetween(first, last) >= maxDays)
    throw invalidField('$.to', `Must be within ${maxDays} days of from.`);
  return { from: first, to: last };
}
