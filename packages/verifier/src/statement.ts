// The file that the auditor got from the bank: the JSON of its statement route (one array, or an
// array a line), OFX, or CSV with the columns nsu, createdAt and amount, which is negative for a
// debit.
import { fieldsOf, nsuOf, parse, textOf, Unreadable } from './facts.js';
import { dayOf, type Chain } from './chain.js';
import type { Finding, FindingCode } from './words.js';

export interface BankLine {
  nsu: bigint;
  cents: bigint;
  /** The statement day. */
  date: string;
}

export function readStatement(text: string): BankLine[] {
  if (!text.trimStart().startsWith('[')) return /<OFX>/i.test(text) ? readOfx(text) : readCsv(text);
  const pages = text.split(/\r?\n(?=\[)/).filter((page) => page.trim() !== '');
  return pages.flatMap((page) => (parse(page) as unknown[]).map(ofBank));
}

function ofBank(value: unknown): BankLine {
  const { nsu, amount, createdAt, type } = fieldsOf(value);
  if (typeof amount !== 'number') throw new Unreadable();
  const cents = BigInt(Math.round(Math.abs(amount) * 100));
  const isCredit = fieldsOf(type)['isCredit'] === true;
  return { nsu: nsuOf(nsu), cents: isCredit ? cents : -cents, date: dayOf(textOf(createdAt)) };
}

function readOfx(text: string): BankLine[] {
  const posted = /^(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?(?:\.\d+)?(?:\[([+-]?\d+))?/;
  return text
    .split(/<STMTTRN>/i, -1)
    .slice(1)
    .map((one) => {
      const field = (name: string) =>
        new RegExp(`<${name}>([^<\\r\\n]*)`, 'i').exec(one)?.[1] ?? '';
      const [, year, month, day, hour = '12', minute = '00', second = '00', zone = '0'] =
        posted.exec(field('DTPOSTED')) ?? [];
      const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
      if (Number.isNaN(local)) throw new Unreadable();
      const date = dayOf(new Date(local - Number(zone) * 3_600_000).toISOString());
      return { nsu: nsuOf(field('FITID').trim()), cents: decimalCents(field('TRNAMT')), date };
    });
}

function readCsv(text: string): BankLine[] {
  const [head = '', ...rows] = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((row) => row.trim() !== '');
  const delimiter = head.includes(';') ? ';' : ',';
  const cells = (row: string) => row.split(delimiter).map((one) => one.trim().replaceAll('"', ''));
  const columns = ['nsu', 'createdAt', 'amount'].map((name) => cells(head).indexOf(name));
  if (columns.includes(-1)) throw new Unreadable();
  return rows.map((row) => {
    const [nsu = '', at = '', amount = ''] = columns.map((column) => cells(row)[column]);
    const date = dayOf(at);
    if (date === '') throw new Unreadable();
    return { nsu: nsuOf(nsu), cents: decimalCents(amount.replace(',', '.')), date };
  });
}

function decimalCents(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d{1,2}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) throw new Unreadable();
  const cents = BigInt(whole + fraction.padEnd(2, '0'));
  return sign === '-' ? -cents : cents;
}

type Value = bigint | string;

/** Which lines the bank shows and the certificates do not contain, and the reverse. */
export function compareStatement(chain: Chain, bank: readonly BankLine[]): Finding[] {
  const findings: Finding[] = [];
  const compare = (code: FindingCode, nsu: bigint, expected: Value, actual: Value = '') => {
    if (expected !== actual)
      findings.push({ code, where: `nsu ${nsu}`, expected: `${expected}`, actual: `${actual}` });
  };
  const isWithin = (date: string, dates: string[]) => date >= dates[0]! && date <= dates.at(-1)!;
  const [dates, days] = [[...chain.days.keys()].sort(), bank.map(({ date }) => date).sort()];
  const lines = [...chain.days.values()].flatMap((day) => day.lines);
  const certified = new Map(lines.map((line) => [line.nsu, line]));
  for (const { nsu, cents, date } of bank) {
    const line = certified.get(nsu);
    if (line) {
      compare('amount', nsu, cents, line.cents);
      compare('day', nsu, date, dayOf(line.at));
    } else if (isWithin(date, dates)) compare('not_certified', nsu, cents);
  }
  const shown = new Set(bank.map(({ nsu }) => nsu));
  for (const { nsu, cents, at } of lines)
    if (!shown.has(nsu) && isWithin(dayOf(at), days)) compare('not_at_bank', nsu, '', cents);
  return findings;
}
