// Writes FEBRABAN's CNAB 240 file, "extrato para conciliação bancária": batches of service 04, with
// one segment E for each line. Each record has exactly 240 ASCII characters. Texts are in capital
// letters, ids as they are. Amounts are in centavos, dates are DDMMAAAA.
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import { addDays, type PlainDate } from '../../brazil/calendar.js';
import { saoPauloTime } from '../../brazil/sao-paulo-time.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { cnabProfileOf, type CnabProfile } from './cnab240-profiles.js';
import {
  asciiOf,
  signedCents,
  type ExportFile,
  type ExportedLine,
  type StatementPeriod,
} from './exported-line.js';
import { kindOfLine, type LineKind } from './line-kind.js';

/** The file trailer counts the records of the file in six digits. */
export const maxCnabLines = 900_000;
/** The file header states the number in six digits. */
export const maxFileNumber = 999_999;
/** A batch header has five digits for it: the last five. */
const batchNumbers = 100_000;
/** A record's number in its batch has five digits. */
const maxBatchLines = 99_999;
const width = 240;
const documentLength = 39;

/** CNAB 240 has no field for an ISPB. */
export type CnabAccount = BankDetails & { bankCode: string };

export interface CnabFileOptions {
  account: CnabAccount;
  period: StatementPeriod;
  /** The number of the file, which no file of the account with other content has. */
  fileNumber: number;
  batchLines?: number;
}

interface Batch {
  number: number;
  details: number;
  creditCents: bigint;
  debitCents: bigint;
}

export function cnab240File(options: CnabFileOptions): ExportFile<ExportedLine> {
  const { period, batchLines = maxBatchLines } = options;
  const write = recordWriter(options);
  let batch: Batch = { number: 1, details: 0, creditCents: 0n, debitCents: 0n };
  let balanceCents = period.openingCents;
  // No balance of a later day is known yet.
  const today = statementDayOf(period.generatedAt);
  let lastDay = earlier(addDays(period.from, -1), today);
  let records = 0;
  const count = (text: string, by = 1) => {
    records += by;
    return text;
  };
  return {
    contentType: 'text/plain; charset=us-ascii',
    extension: 'ret',
    encoding: 'latin1',
    head: () =>
      count(write.fileHeader()) + count(write.batchHeader(batch.number, balanceCents, lastDay)),
    row: (line) => {
      let text = '';
      if (batch.details === batchLines) {
        text += count(write.batchTrailer(batch, balanceCents, lastDay, true));
        batch = { number: batch.number + 1, details: 0, creditCents: 0n, debitCents: 0n };
        text += count(write.batchHeader(batch.number, balanceCents, lastDay));
      }
      batch.details += 1;
      if (line.isCredit) batch.creditCents += line.amountCents;
      else batch.debitCents += line.amountCents;
      // Lines come in nsu order, in which balances need not follow each other: the balance is the
      // sum of the lines.
      balanceCents += signedCents(line);
      lastDay = statementDayOf(line.occurredAt);
      return text + count(write.detail(batch, line));
    },
    foot: () => {
      const last = write.batchTrailer(
        batch,
        balanceCents,
        earlier(period.to, today),
        period.isPartial,
      );
      return count(last) + write.fileTrailer(batch.number, records + 1);
    },
  };
}

function earlier(a: PlainDate, b: PlainDate): PlainDate {
  return a < b ? a : b;
}

/** Writes the records of one file. Positions are those of the layout, from 1. */
function recordWriter({ account, period, fileNumber }: CnabFileOptions) {
  const profile = cnabProfileOf(account.bankCode);
  const bank = digits(account.bankCode, 3);
  const company = companyOf(account, profile);
  return {
    fileHeader: () => {
      const { digits: now } = saoPauloTime(period.generatedAt);
      const day = `${now.slice(6, 8)}${now.slice(4, 6)}${now.slice(0, 4)}`;
      return record(
        `${bank}00000${blanks(9)}${company.header}${words(account.bankName, 30)}${blanks(10)}2`,
        `${day}${now.slice(8)}${digits(fileNumber, 6)}${profile.fileLayout}${profile.density}`,
        blanks(69),
      );
    },
    batchHeader: (batch: number, openingCents: bigint, day: PlainDate) =>
      record(
        `${bank}${digits(batch, 4)}1E0440${profile.batchLayout} ${company.header}${blanks(40)}`,
        `${dateOf(day)}${balance(openingCents)}FBRL${digits(fileNumber % batchNumbers, 5)}${blanks(62)}`,
      ),
    detail: (batch: Batch, line: ExportedLine) => {
      const day = dateOf(statementDayOf(line.occurredAt));
      return record(
        `${bank}${digits(batch.number, 4)}3${digits(batch.details, 5)}E${profile.entryCode}`,
        `${company.entry}${blanks(6)}DPV${profile.noComplement}${profile.isExempt}`,
        `${profile.hasPostingDay ? day : blanks(8)}${day}${digits(line.amountCents, 18)}`,
        `${line.isCredit ? 'C' : 'D'}${categoryOf(line)}${blanks(4)}${historyOf(line)}`,
        documentOf(line),
      );
    },
    batchTrailer: (batch: Batch, closingCents: bigint, day: PlainDate, isPartial: boolean) =>
      record(
        `${bank}${digits(batch.number, 4)}5${blanks(9)}${company.header.slice(0, 55)}${blanks(16)}`,
        `${digits(0, 54)}${dateOf(day)}${balance(closingCents)}${isPartial ? 'P' : 'F'}`,
        `${digits(batch.details + 2, 6)}${digits(batch.debitCents, 18)}`,
        `${digits(batch.creditCents, 18)}${profile.trailerEnd}`,
      ),
    fileTrailer: (batches: number, records: number) =>
      record(
        `${bank}99999${blanks(9)}${digits(batches, 6)}${digits(records, 6)}${digits(batches, 6)}`,
        blanks(205),
      ),
  };
}

/**
 * Positions 18 to 102: the holder's registration (1: CPF, 2: CNPJ), agreement, branch, account and
 * name. An account's second check digit stands in the field of branch and account together.
 */
function companyOf(account: CnabAccount, profile: CnabProfile) {
  const { holderTaxId, branch, accountNumber } = account;
  const accountDigit = asciiOf(account.accountDigit ?? '');
  const isLast = profile.hasLastCheckDigit && accountDigit.length === 1;
  const { header, entry } = profile.agreement(words(account.agreement ?? '', 20).trimEnd());
  const start = `${holderTaxId.length === 11 ? '1' : '2'}${holderTaxId.padStart(14, '0')}`;
  const end = [
    digits(branch, 5),
    words(account.branchDigit ?? '', 1),
    digits(accountNumber, 12),
    isLast ? ` ${accountDigit}` : words(accountDigit, 2),
    words(account.holderName, 30),
  ].join('');
  return { header: `${start}${header}${end}`, entry: `${start}${entry}${end}` };
}

/** FEBRABAN's category of an entry (field G056): of a credit, of a debit. */
const categories: Record<LineKind, readonly [credit: string, debit: string]> = {
  reversal: ['204', '103'],
  fee: ['205', '105'],
  income_tax: ['205', '111'],
  financial_tax: ['205', '110'],
  tax: ['221', '126'],
  bank_slip: ['202', '112'],
  bill: ['205', '112'],
  own_transfer: ['213', '117'],
  transfer: ['209', '120'],
  other: ['205', '104'],
};

function categoryOf(line: ExportedLine): string {
  const [credit, debit] = categories[kindOfLine(line)];
  return line.isCredit ? credit : debit;
}

/** Who paid or was paid, or else the notes, or else the bank's type name. */
function historyOf({ counterparty, notes, typeName }: ExportedLine): string {
  return words(counterparty.name ?? notes ?? typeName, 25);
}

/** The endToEndId, or else the client's reference, or else the nsu. An id is never cut. */
function documentOf({ endToEndId, clientReference, nsu }: ExportedLine): string {
  const ids = [endToEndId, clientReference, nsu.toString()].map((id) => asciiOf(id ?? ''));
  const id = ids.find((one) => one !== '' && one.length <= documentLength) ?? '';
  return id.padEnd(documentLength);
}

function record(...parts: string[]): string {
  const text = parts.join('');
  if (text.length !== width)
    throw new RangeError(`a CNAB 240 record must have ${width} characters, got ${text.length}`);
  return `${text}\r\n`;
}

/** A right-aligned number. Throws RangeError if it does not fit: a cut number would be wrong. */
function digits(value: bigint | number | string, length: number): string {
  const text = value.toString();
  if (!/^\d+$/.test(text) || text.length > length)
    throw new RangeError(`a number must fit into ${length} digits, got ${text}`);
  return text.padStart(length, '0');
}

function words(text: string, length: number): string {
  return asciiOf(text).toUpperCase().slice(0, length).padEnd(length);
}

function blanks(length: number): string {
  return ' '.repeat(length);
}

/** An amount with its sign: D for a negative balance, C otherwise. */
function balance(cents: bigint): string {
  return cents < 0n ? `${digits(-cents, 18)}D` : `${digits(cents, 18)}C`;
}

function dateOf(day: PlainDate): string {
  return `${day.slice(8)}${day.slice(5, 7)}${day.slice(0, 4)}`;
}
