// OFX 1.0.2 (SGML) as Brazilian bookkeeping programs read it: leaves without closing tags, times of São Paulo with
// their zone, a decimal point, and the nsu as FITID, by which they tell a line that they have already.
import { statementDayStart } from '../brazil/statement-day.js';
import { addDays } from '../brazil/calendar.js';
import { saoPauloTime } from '../brazil/sao-paulo-time.js';
import { formatReaisWithTwoDecimals } from '../money/cents.js';
import {
  onOneLine,
  signedCents,
  type ExportedLine,
  type NamedAccount,
  type StatementFile,
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

/** What the format allows. */
const longest = { memo: 255, checkNumber: 12, reference: 32, accountId: 22 };

export function ofxFile(
  account: NamedAccount,
  period: StatementPeriod,
): StatementFile<ExportedLine> {
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
        `<BANKID>${account.bankCode ?? '000'}`,
        ...(account.branch === null ? [] : [`<BRANCHID>${account.branch}`]),
        `<ACCTID>${(account.accountNumber ?? account.slug).slice(0, longest.accountId)}`,
        '<ACCTTYPE>CHECKING',
        '</BANKACCTFROM>',
        '<BANKTRANLIST>',
        `<DTSTART>${timeOf(start)}`,
        `<DTEND>${timeOf(end)}`,
      ]),
    line: (line) => {
      // Lines come by their numbers, and balances need not: the sum of the lines is what was left in the end.
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
    ...(number.length > longest.checkNumber ? [] : [`<CHECKNUM>${number}`]),
    ...(reference === null ? [] : [`<REFNUM>${sgmlText(reference, longest.reference)}`]),
    `<MEMO>${sgmlText(memo, longest.memo)}`,
    '</STMTTRN>',
  ]);
}

/** `yyyymmddhhmmss[-3:BRT]`, and `[-2:BRST]` in the summers that there were. */
function timeOf(instant: Date): string {
  const { digits, offsetHours } = saoPauloTime(instant);
  return `${digits}[${offsetHours}:${offsetHours === -2 ? 'BRST' : 'BRT'}]`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Text that is no tag, on one line, in Windows-1252, and no longer than allowed with what stands for `<`, `>`, `&`. */
function sgmlText(text: string, maxLength: number): string {
  let written = '';
  for (const character of latinOf(text)) {
    const next = entities[character] ?? character;
    if (written.length + next.length > maxLength) break;
    written += next;
  }
  return written;
}

/** In the characters that Latin-1 and Windows-1252 share; accents are kept, what is beyond them is not. */
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
