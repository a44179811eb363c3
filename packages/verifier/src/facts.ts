// What certificates, lines and files of a bank state, read strictly. Amounts are cents.

export type Line = ReturnType<typeof readLine>;
export type Item = ReturnType<typeof readItem>;
export type SigningKey = ReturnType<typeof readKey>;
export type Certificate = ReturnType<typeof readCertificate>;
export type Fields = Record<string, unknown>;

export function fail(): never {
  throw new SyntaxError();
}

/** What `read` returns; whatever it throws means that something is not in its form, and where. */
export function readAt<Value>(where: string, read: () => Value): Value {
  try {
    return read();
  } catch {
    throw new SyntaxError(where);
  }
}

/** The fields of a text in canonical JSON (RFC 8785), which states each of them once. */
export function parseCanonical(text: string): Fields {
  const value = JSON.parse(text) as Fields;
  return canonical(value) === text ? value : fail();
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, one]) => `${canonical(name)}:${canonical(one)}`).join(',')}}`;
}

export const textOf = (value: unknown) => (typeof value === 'string' ? value : fail());

const numberOf = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : fail());

/** Reais with two decimals. */
const centsOf = (value: unknown) =>
  /^-?\d+\.\d\d$/.test(textOf(value)) ? BigInt((value as string).replace('.', '')) : fail();

export function reaisOf(cents: bigint): string {
  const digits = `${cents}`.replace('-', '').padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export const nsuOf = (value: unknown): bigint =>
  /^-?\d{1,19}$/.test(typeof value === 'string' ? value : `${numberOf(value)}`)
    ? BigInt(value as string | number)
    : fail();

/** Cents that are negative for a debit. */
export const signed = (cents: bigint, isCredit: unknown): bigint =>
  typeof isCredit !== 'boolean' || cents < 0n ? fail() : isCredit ? cents : -cents;

const dayMs = 86_400_000;
const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);
export const dayAfter = (date: string, days = 1) => isoDay(Date.parse(date) + days * dayMs);

/**
 * The statement day, which begins at 03:00Z, of a time in ISO 8601: in UTC if it names no zone. A
 * date alone is that day.
 */
export function dayOf(at: unknown): string {
  const iso = /^(\d{4}-\d\d-\d\d)(?:(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;
  const [, date = '', time = 'T12:00', zone = 'Z'] = iso.exec(textOf(at)) ?? [];
  const [midnight, instant] = [Date.parse(`${date}T00:00Z`), Date.parse(date + time + zone)];
  // JavaScript reads February 30 as a day of March.
  if (Number.isNaN(midnight + instant) || isoDay(midnight) !== date) fail();
  return isoDay(instant - dayMs / 8);
}

const orNull =
  <Value>(read: (value: unknown) => Value) =>
  (value: unknown): Value | null =>
    value === null || value === undefined ? null : read(value);

export function readLine(text: string, accountId: number) {
  const line = parseCanonical(text);
  if (line['format'] !== 'concilia-statement-line/1' || line['accountId'] !== accountId) fail();
  return {
    ...{ text, nsu: nsuOf(line['nsu']), date: dayOf(line['occurredAt']) },
    cents: signed(centsOf(line['amount']), line['isCredit']),
    ...{ before: centsOf(line['balancePrevious']), after: centsOf(line['currentBalance']) },
  };
}

export function readCertificate(text: string) {
  const one = parseCanonical(text);
  const all = <Name extends string, Value>(read: (value: unknown) => Value, ...names: Name[]) =>
    Object.fromEntries(names.map((name) => [name, read(one[name])])) as Record<Name, Value>;
  const labels = ['classified', 'inBreak'].flatMap((name) => Object.values(one[name] as Fields));
  const outcomes = [one['matched'] as Fields, ...(labels as Fields[])];
  const total = (name: string) => outcomes.reduce((all, each) => all + centsOf(each[name]), 0n);
  const certificate = {
    date: dayOf(one['date']),
    ...all(numberOf, 'accountId', 'revision', 'sequence', 'lines'),
    ...all(centsOf, 'opening', 'credits', 'debits', 'closing', 'balance'),
    ...all(textOf, 'previousHash'),
    ...all(String, 'firstNsu', 'lastNsu'),
    ...all(orNull(textOf), 'reason', 'statementRoot'),
    /** The balance after this line, corrected by the items, is the closing balance. */
    ...all(orNull(nsuOf), 'balanceNsu'),
    items: (one['reconcilingItems'] as unknown[]).map(readItem),
    added: (one['added'] as unknown[]).map(nsuOf).join(' '),
    byOutcome: {
      lines: outcomes.reduce((all, { count }) => all + numberOf(count), 0),
      ...{ credits: total('credits'), debits: total('debits') },
    },
    ...all(orNull(readKey), 'key'),
    /** The lines before the first day, and the log; null where a certificate states nothing. */
    ...all(orNull(readTree), 'earlier', 'decisions'),
  };
  const { date, key, statementRoot } = certificate;
  const parts = [key, statementRoot].filter((part) => part !== null).length;
  const format = `concilia-day-close${['/1', '', '/2'][parts]}`;
  return format === one['format'] && date === one['date'] ? certificate : fail();
}

function readTree(value: unknown) {
  const { lines, count = lines, statementRoot, root = statementRoot } = value as Fields;
  return { count: numberOf(count), root };
}

function readItem(value: unknown) {
  const { kind, nsu, amount, occurredAt } = value as Fields;
  if (kind !== 'straddling_line' && kind !== 'accepted_difference') fail();
  const isAccepted = kind === 'accepted_difference';
  return { isAccepted, nsu: nsuOf(nsu), cents: centsOf(amount), date: dayOf(occurredAt) };
}

function readKey(value: unknown) {
  const { id, x, endorsement } = value as Fields;
  return { id: textOf(id), x: textOf(x), endorsement: (endorsement ?? null) as Fields | null };
}
