// What certificates, lines and files of a bank state, read strictly. Amounts are cents.

export type Line = ReturnType<typeof readLine>;
export type Item = ReturnType<typeof readItem>;
export type SigningKey = ReturnType<typeof readKey>;
export type Certificate = ReturnType<typeof readCertificate>;

/** What is not in the form that it must have. */
export class Unreadable extends Error {}

type Fields = Record<string, unknown>;

export function fieldsOf(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Unreadable();
  return value as Fields;
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Unreadable();
  }
}

/** Reais with two decimals. */
export function centsOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^-?\d+\.\d\d$/.test(value)) throw new Unreadable();
  return BigInt(value.replace('.', ''));
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Unreadable();
  return value;
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Unreadable();
  return value;
}

export function nsuOf(value: unknown): bigint {
  if (!/^-?\d{1,19}$/.test(String(value))) throw new Unreadable();
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new Unreadable();
  return BigInt(value as string | number);
}

const orNull = <Value>(value: unknown, read: (value: unknown) => Value): Value | null =>
  value === null || value === undefined ? null : read(value);

/** The cents of a debit are negative; the time is in UTC. */
export function readLine(text: string, accountId: number) {
  const line = fieldsOf(parse(text));
  const { format, nsu, isCredit, amount, balancePrevious, currentBalance, occurredAt } = line;
  if (format !== 'concilia-statement-line/1' || line['accountId'] !== accountId)
    throw new Unreadable();
  return {
    ...{ nsu: nsuOf(nsu), cents: isCredit === true ? centsOf(amount) : -centsOf(amount), text },
    ...{ previousCents: centsOf(balancePrevious), currentCents: centsOf(currentBalance) },
    at: textOf(occurredAt),
  };
}

export function readCertificate(text: string) {
  const one = fieldsOf(parse(text));
  const { format, reconcilingItems: items, earlier } = one;
  const read = <Value>(name: string, reader: (value: unknown) => Value) => reader(one[name]);
  const key = orNull(one['key'], readKey);
  const statementRoot = orNull(one['statementRoot'], textOf);
  const isSigned = format === 'concilia-day-close/2';
  if (!isSigned && format !== 'concilia-day-close/1') throw new Unreadable();
  if ((key !== null) !== isSigned || (statementRoot !== null) !== isSigned) throw new Unreadable();
  if (!Array.isArray(items)) throw new Unreadable();
  return {
    ...{ accountId: read('accountId', numberOf), date: read('date', textOf) },
    ...{ revision: read('revision', numberOf), sequence: read('sequence', numberOf) },
    ...{ opening: read('opening', centsOf), closing: read('closing', centsOf) },
    ...{ credits: read('credits', centsOf), debits: read('debits', centsOf) },
    ...{ lines: read('lines', numberOf), previousHash: read('previousHash', textOf) },
    /** The balance after this line, corrected by the items, is the closing balance. */
    balanceNsu: orNull(one['balanceNsu'], nsuOf),
    balance: read('balance', centsOf),
    items: items.map(readItem),
    earlier: orNull(earlier, (value) => {
      const before = fieldsOf(value);
      return { lines: numberOf(before['lines']), statementRoot: before['statementRoot'] };
    }),
    ...{ key, statementRoot },
    /** Null before there was a log. */
    decisions: orNull(one['decisions'], (value) => {
      const { count, root } = fieldsOf(value);
      return { count: numberOf(count), root: textOf(root) };
    }),
  };
}

function readItem(value: unknown) {
  const { kind, nsu, amount } = fieldsOf(value);
  if (kind !== 'straddling_line' && kind !== 'accepted_difference') throw new Unreadable();
  return { kind, nsu: nsuOf(nsu), cents: centsOf(amount) } as const;
}

function readKey(value: unknown) {
  const { id, x, endorsement } = fieldsOf(value);
  const read = ({ by, signature }: Fields) => ({ by: textOf(by), signature: textOf(signature) });
  return {
    ...{ id: textOf(id), x: textOf(x) },
    endorsement: orNull(endorsement, (given) => read(fieldsOf(given))),
  };
}
