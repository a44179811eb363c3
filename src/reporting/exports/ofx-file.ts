// Writes OFX 1.0.2 (SGML) as Brazilian bookkeeping programs read it: one tag a line, leaf elements
// without closing tags, São Paulo times with their zone, and a decimal point. The FITID is the nsu:
// by it, programs recognise lines that they have already imported.
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import { addDays } from '../../brazil/calendar.js';
import { saoPauloTime } from '../../brazil/sao-paulo-time.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { formatReaisWithTwoDecimals } from '../../brazil/cents.js';
import {
  onOneLine,
  signedCents,
  type ExportFile,
  type ExportedLine,
  type StatementPeriod,
} from './exported-line.js';
import { codingNames } from '../../statement/expected-payments/coding.js';
import { kindOfLine, type LineKind } from './line-kind.js';

const header = [
  'OFXHEADER:100',
  'DATA:OFXSGML',
  'VERSION:102',
  'SECURITY:NONE',
  'ENCODING:USASCII',
  'CHARSET:1252',
  'COMPRESSION:NONE',
  'OLDFILEUID:NONE',
  'NEWFILEUID:NONE',
  '',
];

/** The format's maximum lengths. Programs refuse a file for one that is longer. */
const maxLengths = { organization: 32, name: 32, memo: 255, checkNumber: 12, reference: 32 };
/** Of the category and the cost centre together. */
const maxOwnLength = 120;

const status = ['<STATUS>', '<CODE>0', '<SEVERITY>INFO', '</STATUS>'];

export function ofxFile(account: BankDetails, period: StatementPeriod): ExportFile<ExportedLine> {
  const { generatedAt } = period;
  const start = earlier(statementDayStart(period.from), generatedAt);
  const endOfPeriod = new Date(statementDayStart(addDays(period.to, 1)).getTime() - 1_000);
  const end = earlier(endOfPeriod, generatedAt);
  let balance: { cents: bigint; at: Date | null } = { cents: period.openingCents, at: null };
  return {
    contentType: 'application/x-ofx; charset=windows-1252',
    extension: 'ofx',
    encoding: 'latin1',
    head: () =>
      linesOf([
        ...[...header, '<OFX>', ...signOn(account, generatedAt)],
        ...['<BANKMSGSRSV1>', '<STMTTRNRS>', '<TRNUID>1', ...status, '<STMTRS>', '<CURDEF>BRL'],
        ...accountFrom(account),
        ...['<BANKTRANLIST>', `<DTSTART>${timeOf(start)}`, `<DTEND>${timeOf(end)}`],
      ]),
    row: (line) => {
      // Lines come in nsu order, in which balances need not follow each other: the closing balance
      // is the sum of the lines.
      const isLatest = balance.at === null || line.occurredAt > balance.at;
      balance = {
        cents: balance.cents + signedCents(line),
        at: isLatest ? line.occurredAt : balance.at,
      };
      return linesOf(transaction(line));
    },
    foot: () =>
      linesOf([
        ...['</BANKTRANLIST>', '<LEDGERBAL>'],
        `<BALAMT>${formatReaisWithTwoDecimals(balance.cents)}`,
        `<DTASOF>${timeOf(balance.at ?? end)}`,
        ...['</LEDGERBAL>', '</STMTRS>', '</STMTTRNRS>', '</BANKMSGSRSV1>', '</OFX>'],
      ]),
  };
}

function signOn({ bankCode, ispb, bankName }: BankDetails, at: Date): string[] {
  return [
    ...['<SIGNONMSGSRSV1>', '<SONRS>', ...status, `<DTSERVER>${timeOf(at)}`, '<LANGUAGE>POR'],
    ...['<FI>', ...leaf('ORG', bankName, maxLengths.organization), `<FID>${bankCode ?? ispb}`],
    ...['</FI>', '</SONRS>', '</SIGNONMSGSRSV1>'],
  ];
}

function accountFrom(account: BankDetails): string[] {
  return [
    '<BANKACCTFROM>',
    `<BANKID>${account.bankCode ?? account.ispb}`,
    `<BRANCHID>${withDigit(account.branch, account.branchDigit)}`,
    `<ACCTID>${withDigit(account.accountNumber, account.accountDigit)}`,
    ...['<ACCTTYPE>CHECKING', '</BANKACCTFROM>'],
  ];
}

/** A number and its check digit: `34567-8`. */
function withDigit(number: string, digit: string | null): string {
  return digit === null ? number : `${number}-${digit}`;
}

function transaction(line: ExportedLine): string[] {
  const number = line.nsu.toString();
  return [
    '<STMTTRN>',
    `<TRNTYPE>${typeOf(line)}`,
    `<DTPOSTED>${timeOf(line.occurredAt)}`,
    `<TRNAMT>${formatReaisWithTwoDecimals(signedCents(line))}`,
    `<FITID>${number}`,
    ...(number.length > maxLengths.checkNumber ? [] : [`<CHECKNUM>${number}`]),
    ...leaf('REFNUM', referenceOf(line), maxLengths.reference),
    ...leaf('NAME', line.counterparty.name ?? line.typeName, maxLengths.name),
    `<MEMO>${memoOf(line)}`,
    '</STMTTRN>',
  ];
}

/** Types that programs read as debits whatever the amount, as FEE and PAYMENT, are of debits. */
const debitTypes: Partial<Record<LineKind, string>> = {
  fee: 'FEE',
  bill: 'PAYMENT',
  bank_slip: 'PAYMENT',
  tax: 'PAYMENT',
  own_transfer: 'XFER',
  transfer: 'XFER',
};
const creditTypes: Partial<Record<LineKind, string>> = { own_transfer: 'XFER', transfer: 'XFER' };

function typeOf(line: ExportedLine): string {
  const kind = kindOfLine(line);
  return line.isCredit ? (creditTypes[kind] ?? 'CREDIT') : (debitTypes[kind] ?? 'DEBIT');
}

const guid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The client's id if it is short enough, a GUID without its hyphens, or else the endToEndId. */
function referenceOf({ clientReference, endToEndId }: ExportedLine): string {
  const id = clientReference ?? '';
  const short = guid.test(id) ? id.replaceAll('-', '') : id;
  const isWhole = sgmlText(short, maxLengths.memo) === sgmlText(short, maxLengths.reference);
  return short !== '' && isWhole ? short : (endToEndId ?? '');
}

/**
 * The bank's type, the notes, the coding in parentheses, and each id that the
 * REFNUM is not. The ids come before what is long.
 */
function memoOf(line: ExportedLine): string {
  const { typeName, notes, coding, endToEndId, clientReference } = line;
  const own = codingNames.flatMap((name) => coding[name] ?? []).join(', ');
  const reference = referenceOf(line);
  let left = maxLengths.memo;
  const take = (text: string, maxLength = left - 1) => {
    const taken = text === '' ? '' : ` ${sgmlText(text, Math.min(maxLength, left - 1))}`;
    left -= taken.length;
    return taken;
  };
  const ids = [clientReference, endToEndId].map((id) => take(id === reference ? '' : (id ?? '')));
  const ends = [take(own === '' ? '' : `(${own})`, maxOwnLength), ...ids.reverse()];
  const start = notes === null ? typeName : `${typeName} ${notes}`;
  return `${sgmlText(start, left)}${ends.join('')}`.trim();
}

function leaf(tag: string, text: string, maxLength: number): string[] {
  const value = sgmlText(text, maxLength);
  return value === '' ? [] : [`<${tag}>${value}`];
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

/** `yyyymmddhhmmss[-3:BRT]`; `[-2:BRST]` in daylight saving time, which existed until 2019. */
function timeOf(instant: Date): string {
  const { digits, offsetHours } = saoPauloTime(instant);
  return `${digits}[${offsetHours}:${offsetHours === -2 ? 'BRST' : 'BRT'}]`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Escapes a text for SGML, on one line and in Windows-1252. The maximum length counts the escaped
 * text; an entity is never cut.
 */
function sgmlText(text: string, maxLength: number): string {
  let escaped = '';
  for (const character of latinOf(text)) {
    const next = entities[character] ?? character;
    if (escaped.length + next.length > maxLength) break;
    escaped += next;
  }
  return escaped.trim();
}

/**
 * Converts to the characters that Latin-1 and Windows-1252 share. Accents stay; other characters
 * lose their accents or become `?`. Two readers need more: asgrim/ofxparser does not close a tag
 * before a caret, and ofx-data-extractor replaces `$&`, `${'` and the like by parts of the file.
 */
function latinOf(text: string): string {
  return onOneLine(text)
    .normalize('NFC')
    .replace(/[–—]/g, '-')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[^\x20-\x7e\u00a0-\u00ff]/gu, (character) => {
      const plain = character.normalize('NFKD').replace(/\p{M}/gu, '');
      return /^[\x20-\x7e]+$/.test(plain) ? plain : '?';
    })
    .replaceAll('^', ' ')
    .replace(/\$(?![A-Za-z0-9 ]|$)/g, '$ ');
}

function linesOf(lines: string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
