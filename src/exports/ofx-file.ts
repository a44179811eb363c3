// Writes OFX 1.0.2 (SGML) as Brazilian bookkeeping programs read it: leaf elements without closing
// tags, São Paulo times with their zone, and a decimal point. The FITID is the nsu: by it, programs
// recognise lines that they have already imported.
import { statementDayStart } from '../brazil/statement-day.js';
import { addDays } from '../brazil/calendar.js';
import { saoPauloTime } from '../brazil/sao-paulo-time.js';
import type { BankDetails } from '../accounts/bank-details.schema.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import {
  onOneLine,
  signedCents,
  type ExportedLine,
  type ExportFile,
  type StatementPeriod,
} from './exported-line.js';

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

/** The format's maximum lengths. */
const maxLengths = { memo: 255, checkNumber: 12, reference: 32 };

export function ofxFile(account: BankDetails, period: StatementPeriod): ExportFile<ExportedLine> {
  const start = statementDayStart(period.from);
  const end = new Date(statementDayStart(addDays(period.to, 1)).getTime() - 1_000);
  let balance = { cents: period.openingCents, at: end };
  return {
    contentType: 'application/x-ofx; charset=windows-1252',
    extension: 'ofx',
    encoding: 'latin1',
    head: () =>
      linesOf([
        ...header,
        '<OFX>',
        '<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>',
        `<DTSERVER>${timeOf(period.generatedAt)}`,
        '<LANGUAGE>POR',
        '</SONRS></SIGNONMSGSRSV1>',
        '<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STATUS><CODE>0<SEVERITY>INFO</STATUS>',
        '<STMTRS>',
        '<CURDEF>BRL',
        '<BANKACCTFROM>',
        `<BANKID>${account.bankCode ?? account.ispb}`,
        `<BRANCHID>${withDigit(account.branch, account.branchDigit)}`,
        `<ACCTID>${withDigit(account.accountNumber, account.accountDigit)}`,
        '<ACCTTYPE>CHECKING',
        '</BANKACCTFROM>',
        '<BANKTRANLIST>',
        `<DTSTART>${timeOf(start)}`,
        `<DTEND>${timeOf(end)}`,
      ]),
    row: (line) => {
      // Lines come in nsu order, in which balances need not follow each other: the closing balance
      // is the sum of the lines.
      const isLater = balance.at === end || line.occurredAt > balance.at;
      balance = {
        cents: balance.cents + signedCents(line),
        at: isLater ? line.occurredAt : balance.at,
      };
      return transaction(line);
    },
    foot: () =>
      linesOf([
        '</BANKTRANLIST>',
        '<LEDGERBAL>',
        `<BALAMT>${formatReaisWithTwoDecimals(balance.cents)}`,
        `<DTASOF>${timeOf(balance.at)}`,
        '</LEDGERBAL>',
        '</STMTRS></STMTTRNRS></BANKMSGSRSV1>',
        '</OFX>',
      ]),
  };
}

/** A number and its check digit: `34567-8`. */
function withDigit(number: string, digit: string | null): string {
  return digit === null ? number : `${number}-${digit}`;
}

function transaction(line: ExportedLine): string {
  const number = line.nsu.toString();
  const reference = line.endToEndId ?? line.externalId ?? line.correlationId;
  const memo = line.notes === null ? line.typeName : `${line.typeName} ${line.notes}`;
  return linesOf([
    '<STMTTRN>',
    `<TRNTYPE>${line.isCredit ? 'CREDIT' : 'DEBIT'}`,
    `<DTPOSTED>${timeOf(line.occurredAt)}`,
    `<TRNAMT>${formatReaisWithTwoDecimals(signedCents(line))}`,
    `<FITID>${number}`,
    ...(number.length > maxLengths.checkNumber ? [] : [`<CHECKNUM>${number}`]),
    ...(reference === null ? [] : [`<REFNUM>${sgmlText(reference, maxLengths.reference)}`]),
    `<MEMO>${sgmlText(memo, maxLengths.memo)}`,
    '</STMTTRN>',
  ]);
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
  return escaped;
}

/**
 * Converts to the characters that Latin-1 and Windows-1252 share. Accents stay; other characters
 * lose their accents or become `?`.
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
    });
}

function linesOf(lines: string[]): string {
  return `${lines.join('\r\n')}\r\n`;
}
