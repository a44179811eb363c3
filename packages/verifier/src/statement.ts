// The file that the auditor got from the bank: the JSON of its statement route (one array, or an
// array a line), OFX, or CSV with the columns nsu, createdAt and amount, which is negative for a
// debit.
import { type Fields, dayAfter, dayOf, fail, nsuOf, readAt, signed } from './facts.js';
import type { Chain } from './chain.js';

/** `date` is the statement day. */
export type BankLine = Record<'nsu' | 'cents', bigint> & { date: string };

export function readStatement(text: string): BankLine[] {
  if (!text.trimStart().startsWith('[')) return /<OFX>/i.test(text) ? readOfx(text) : readCsv(text);
  const pages = text.split(/\r?\n(?=\[)/).filter((page) => page.trim() !== '');
  const all = readAt('--statement', () => pages.flatMap((page) => JSON.parse(page) as unknown[]));
  return readAll(1, all, ofBank);
}

/** Says which row it is that cannot be read; the first one is `from`. */
const readAll = <Row>(from: number, rows: Row[], read: (row: Row) => BankLine): BankLine[] =>
  rows.map((row, at) => readAt(`--statement row ${at + from}`, () => read(row)));

function ofBank(value: unknown): BankLine {
  const { nsu, amount, createdAt, type } = value as Fields;
  const cents = typeof amount === 'number' ? Math.round(Math.abs(amount) * 100) : fail();
  const isCredit = (type as Fields)['isCredit'];
  return { nsu: nsuOf(nsu), cents: signed(BigInt(cents), isCredit), date: dayOf(createdAt) };
}

function readOfx(text: string): BankLine[] {
  const posted = /^(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?(?:\.\d+)?(?:\[([+-])?(\d+))?/;
  return readAll(1, text.split(/<STMTTRN>/i).slice(1), (one) => {
    const field = (name: string) => new RegExp(`<${name}>([^<\\r\\n]*)`, 'i').exec(one)?.[1] ?? '';
    const [, year, month, day, ...time] = posted.exec(field('DTPOSTED')) ?? [];
    const [hour = '12', minute = '00', second = '00', sign = '+', zone = '0'] = time;
    const offset = `${sign}${zone.padStart(2, '0')}:00`;
    const date = dayOf(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
    return { nsu: nsuOf(field('FITID').trim()), cents: decimalCents(field('TRNAMT')), date };
  });
}

function readCsv(text: string): BankLine[] {
  const [head = '', ...rows] = text.trim().split(/\r?\n/);
  const delimiter = head.includes(';') ? ';' : ',';
  const cells = (row: string) => row.split(delimiter).map((one) => one.trim().replaceAll('"', ''));
  const names = cells(head);
  const columns = ['nsu', 'createdAt', 'amount'].map((name) => names.indexOf(name));
  if (columns.includes(-1)) throw new SyntaxError('--statement row 1');
  return readAll(2, rows, (row) => {
    const values = cells(row);
    const [nsu, at, amount = ''] = columns.map((column) => values[column]);
    if (values.length !== names.length) fail();
    return { nsu: nsuOf(nsu), cents: decimalCents(amount), date: dayOf(at) };
  });
}

function decimalCents(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^([+-]?)(\d+)(?:[.,](\d{1,2}))?$/.exec(text.trim()) ?? [];
  const cents = whole === undefined ? fail() : BigInt(whole + fraction.padEnd(2, '0'));
  return signed(cents, sign !== '-');
}

/** Days that follow each other are one range. */
function rangesOf(dates: string[]): string {
  const ranges: [string, string][] = [];
  for (const date of dates)
    if (ranges.at(-1)?.[1] === dayAfter(date, -1)) ranges.at(-1)![1] = date;
    else ranges.push([date, date]);
  return ranges.map(([from, to]) => (from === to ? from : `${from} … ${to}`)).join(', ');
}

/**
 * Finds which lines the bank shows and the certificates do not contain, and the reverse, on the
 * days of both. Returns these days, the other days of the chain, and how many lines were compared.
 */
export function compareStatement(chain: Chain, bank: readonly BankLine[]) {
  const certified = new Map(chain.lines.map((line) => [line.nsu, line]));
  const dates = [...chain.days.keys(), ...chain.lines.map(({ date }) => date)].sort();
  const shownDays = bank.map(({ date }) => date).sort();
  const isShown = (day: string) => day >= shownDays[0]! && day <= shownDays.at(-1)!;
  const days: string[] = [];
  for (let day = dates[0]!; day <= dates.at(-1)!; day = dayAfter(day)) days.push(day);
  const isProven = (day: string) => chain.days.get(day)?.certificate.statementRoot !== null;
  const compared = new Set(days.filter((day) => isShown(day) && isProven(day)));
  if (compared.size === 0) chain.found('nothing_compared', '--statement');
  const shown = new Set<bigint>();
  for (const { nsu, cents, date } of bank) {
    const [line, where] = [certified.get(nsu), `nsu ${nsu}`];
    if (shown.has(nsu)) chain.found('twice', where);
    shown.add(nsu);
    if (line) {
      chain.compare(where, cents, line.cents, 'other_at_bank');
      chain.compare(where, date, line.date, 'other_at_bank');
    } else if (compared.has(date)) chain.found('not_certified', where, cents);
  }
  for (const { nsu, cents, date } of certified.values())
    if (!shown.has(nsu) && compared.has(date)) chain.found('not_at_bank', `nsu ${nsu}`, '', cents);
  const count = bank.filter(({ date }) => compared.has(date)).length;
  return {
    compared: `${rangesOf([...compared])} (${count})`,
    notCompared: rangesOf(days.filter((day) => !compared.has(day))),
  };
}
