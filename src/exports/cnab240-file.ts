// Writes FEBRABAN's CNAB 240 file, "extrato para conciliação bancária": batches of service 04, with
// one segment E for each line. Each record has exactly 240 characters of upper-case ASCII. Amounts
// are in centavos, dates are DDMMAAAA.
import type { BankDetails } from '../accounts/bank-details.schema.js';
import { addDays, daysBetween, type PlainDate } from '../brazil/calendar.js';
import { statementDayOf } from '../brazil/statement-day.js';
import { saoPauloTime } from '../brazil/sao-paulo-time.js';
import {
  asciiOf,
  signedCents,
  type ExportedLine,
  type ExportFile,
  type StatementPeriod,
} from './exported-line.js';

/** The file trailer counts the records of the file in six digits. */
export const maxCnabLines = 900_000;
/** The file number is the number of days from `first` to the end of the period, in five digits. */
export const cnabDays = { first: '2000-01-01', last: '2273-10-14' } as const;
/** A record's number in its batch has five digits. */
const maxBatchLines = 99_999;
const width = 240;

/** CNAB 240 has no field for an ISPB. */
export type CnabAccount = BankDetails & { bankCode: string };

interface Batch {
  number: number;
  details: number;
  creditCents: bigint;
  debitCents: bigint;
}

export function cnab240File(
  account: CnabAccount,
  period: StatementPeriod,
  batchLines = maxBatchLines,
): ExportFile<ExportedLine> {
  const write = recordWriter(account, period);
  let batch: Batch = { number: 1, details: 0, creditCents: 0n, debitCents: 0n };
  let balanceCents = period.openingCents;
  let lastDay = addDays(period.from, -1);
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
      const last = write.batchTrailer(batch, balanceCents, period.to, period.isPartial);
      return count(last) + write.fileTrailer(batch.number, records + 1);
    },
  };
}

/** Writes the records of one file. Positions are those of the layout, from 1. */
function recordWriter(account: CnabAccount, period: StatementPeriod) {
  const bank = digits(account.bankCode, 3);
  const company = companyOf(account);
  // The same period has the same number in every file.
  const sequence = String(daysBetween(cnabDays.first, period.to));
  return {
    fileHeader: () => {
      const { digits: now } = saoPauloTime(period.generatedAt);
      const day = `${now.slice(6, 8)}${now.slice(4, 6)}${now.slice(0, 4)}`;
      return record(
        `${bank}00000${words('', 9)}${company}${words(account.bankName, 30)}${words('', 10)}2${day}`,
        `${now.slice(8)}${digits(sequence, 6)}103${digits('0', 5)}${words('', 69)}`,
      );
    },
    batchHeader: (batch: number, openingCents: bigint, day: PlainDate) =>
      record(
        `${bank}${digits(batch, 4)}1E0440033 ${company}${words('', 40)}`,
        `${dateOf(day)}${balance(openingCents)}FBRL${digits(sequence, 5)}${words('', 62)}`,
      ),
    detail: (batch: Batch, line: ExportedLine) => {
      const day = dateOf(statementDayOf(line.occurredAt));
      const history = line.notes === null ? line.typeName : line.notes;
      return record(
        `${bank}${digits(batch.number, 4)}3${digits(batch.details, 5)}E${words('', 3)}${company}`,
        `${words('', 6)}DPV00${words('', 20)}N${day}${day}${digits(line.amountCents, 18)}`,
        `${line.isCredit ? 'C' : 'D'}${categoryOf(line)}${words('', 4)}${words(history, 25)}`,
        words(line.nsu.toString(), 39),
      );
    },
    batchTrailer: (batch: Batch, closingCents: bigint, day: PlainDate, isPartial: boolean) =>
      record(
        `${bank}${digits(batch.number, 4)}5${words('', 9)}${company.slice(0, 55)}${words('', 16)}`,
        `${digits('0', 54)}${dateOf(day)}${balance(closingCents)}${isPartial ? 'P' : 'F'}`,
        `${digits(batch.details + 2, 6)}${digits(batch.debitCents, 18)}`,
        `${digits(batch.creditCents, 18)}${words('', 28)}`,
      ),
    fileTrailer: (batches: number, records: number) =>
      record(
        `${bank}99999${words('', 9)}${digits(batches, 6)}${digits(records, 6)}${digits(batches, 6)}`,
        words('', 205),
      ),
  };
}

/**
 * Positions 18 to 102: the holder's registration (1: CPF, 2: CNPJ), agreement, branch, account and
 * name. An account's second check digit stands in the field of branch and account together.
 */
function companyOf(account: CnabAccount): string {
  const { holderTaxId, branch, accountNumber, accountDigit } = account;
  const checkDigits = words(accountDigit ?? '', 2);
  return [
    holderTaxId.length === 11 ? '1' : '2',
    holderTaxId.padStart(14, '0'),
    words(account.agreement ?? '', 20),
    digits(branch, 5),
    words(account.branchDigit ?? '', 1),
    digits(accountNumber, 12),
    checkDigits,
    words(account.holderName, 30),
  ].join('');
}

/** FEBRABAN's category of the entry (field G056), derived from the bank's line type. */
function categoryOf({ typeName, isCredit }: ExportedLine): string {
  const matches = (pattern: RegExp) => pattern.test(typeName);
  if (matches(/REVERSAL|REFUND/)) return isCredit ? '204' : '103';
  if (matches(/FEE|TARIFF/)) return isCredit ? '205' : '105';
  if (matches(/BANKSLIP/)) return isCredit ? '202' : '112';
  if (matches(/BILL_PAYMENT/)) return isCredit ? '205' : '112';
  if (matches(/INTERNAL/)) return isCredit ? '213' : '117';
  if (matches(/PIX|EXTERNAL/)) return isCredit ? '209' : '120';
  return isCredit ? '205' : '104';
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

/** An amount with its sign: D for a negative balance, C otherwise. */
function balance(cents: bigint): string {
  return cents < 0n ? `${digits(-cents, 18)}D` : `${digits(cents, 18)}C`;
}

function dateOf(day: PlainDate): string {
  return `${day.slice(8)}${day.slice(5, 7)}${day.slice(0, 4)}`;
}
