// A book of every trouble that a credit or what was sent can have, so many times over: expectations and lines.
import { createHash } from 'node:crypto';

export interface Line {
  nsu: number;
  is_credit: boolean;
  cents: number;
  type: string;
  correlation?: string;
  e2e?: string;
  original?: string;
  external?: string;
  document?: string;
  second: number;
}

type Told = Partial<Omit<Line, 'nsu' | 'second'>>;
interface Expected {
  reference: string;
  cents: number;
  kind?: string;
  is_credit?: boolean;
  multi?: boolean;
  cancelled?: boolean;
  expired?: string;
  document?: string;
}

interface Scene {
  expected: Expected[];
  lines: Told[];
  /** Another account of ours sent what names this end-to-end id. */
  sent?: string;
}

const credit = (cents: number, more: Told = {}): Told => ({ cents, correlation: 'c', ...more });
const back = (cents: number, more: Told = {}): Told => ({
  cents,
  is_credit: false,
  type: 'DEBIT_PIX_REFUND',
  original: 'E',
  ...more,
});
const debit = (more: Told = {}): Told => ({
  cents: 1_000,
  is_credit: false,
  type: 'DEBIT_PIX',
  external: 'c',
  ...more,
});
const charge = (more: Partial<Expected> = {}): Expected => ({
  reference: 'c',
  cents: 1_000,
  ...more,
});
const sent = charge({ kind: 'external_id', is_credit: false });

/** Each with the lines in the order in which they happen. */
const scenes: Scene[] = [
  { expected: [charge()], lines: [credit(1_000)] },
  { expected: [charge()], lines: [credit(1_000), credit(1_000)] },
  { expected: [charge()], lines: [credit(400), credit(600)] },
  { expected: [charge()], lines: [credit(400), credit(300)] },
  { expected: [charge()], lines: [credit(400), credit(900)] },
  { expected: [charge({ cancelled: true })], lines: [credit(1_000), credit(1_000)] },
  { expected: [charge({ expired: '2026-01-01' })], lines: [credit(1_000)] },
  { expected: [], lines: [credit(1_000)] },
  { expected: [charge()], lines: [credit(1_000, { e2e: 'E' }), back(1_000)] },
  { expected: [charge()], lines: [credit(1_000, { e2e: 'E' }), back(300), back(500)] },
  // The second payment goes back: nothing is left to settle.
  { expected: [charge()], lines: [credit(1_000), credit(1_000, { e2e: 'E' }), back(1_000)] },
  { expected: [charge()], lines: [credit(1_000), credit(1_000, { e2e: 'E' }), back(400)] },
  { expected: [charge(), charge({ cents: 500 })], lines: [credit(1_500)] },
  { expected: [charge(), charge({ cents: 500 })], lines: [credit(1_500), credit(1_500)] },
  { expected: [charge(), charge({ cents: 500 })], lines: [credit(1_000)] },
  { expected: [charge({ multi: true })], lines: [credit(1_000), credit(1_000), credit(900)] },
  { expected: [], lines: [credit(1_000, { e2e: 'E' }), back(1_000)] },
  { expected: [sent], lines: [debit({ e2e: 'E' })] },
  {
    expected: [sent],
    lines: [debit({ e2e: 'E' }), credit(1_000, { type: 'CREDIT_PIX_REVERSAL', e2e: 'E' })],
  },
  {
    expected: [sent],
    lines: [
      debit({ e2e: 'E' }),
      debit({ e2e: 'E' }),
      credit(1_000, { type: 'CREDIT_PIX_REVERSAL', e2e: 'E' }),
    ],
  },
  // Two of one payer, and the bank cancels one.
  {
    expected: [
      charge({ reference: 'a', document: 'D' }),
      charge({ reference: 'b', document: 'D', cancelled: true }),
    ],
    lines: [credit(1_000, { correlation: undefined, document: 'D' })],
  },
  { expected: [], lines: [credit(1_000, { e2e: 'O' })], sent: 'O' },
];

/** The open breaks of one of each scene. */
export const troubles = {
  ambiguous: 2,
  duplicate_payment: 4,
  overpaid: 1,
  paid_after_expiry: 1,
  paid_after_cancellation: 2,
  underpaid: 2,
  unexpected: 3,
};

const uuid = (text: string) => createHash('md5').update(text).digest('hex');

export function expectationsOf(copies: number) {
  return each(copies, ({ expected }, name) =>
    expected.map((one, index) => ({
      ...{ kind: 'correlation_id', is_credit: true, multi: false, cancelled: false, expired: null },
      ...one,
      id: uuid(`expected ${name} ${index}`),
      operation: uuid(`operation ${name} ${index}`),
      reference: `${one.reference} ${name}`,
      document: one.document && `${one.document} ${name}`,
    })),
  );
}

export function linesOf(copies: number): Line[] {
  const told = each(copies, ({ lines }, name) =>
    lines.map((line) => {
      const named = (value: string | undefined) => value && `${value} ${name}`;
      const { correlation, e2e, original, external, document } = line;
      return {
        ...{ is_credit: true, cents: 0, type: 'CREDIT_PIX' },
        ...line,
        ...{ correlation: named(correlation), e2e: named(e2e) },
        ...{ original: named(original), external: named(external) },
        document: named(document),
      };
    }),
  );
  return told.map((line, index) => ({ ...line, nsu: index + 1, second: index }) as Line);
}

function each<Row>(copies: number, rowsOf: (scene: Scene, name: string) => Row[]): Row[] {
  return Array.from({ length: copies }).flatMap((_, copy) =>
    scenes.flatMap((scene, index) => rowsOf(scene, `${index}/${copy}`)),
  );
}

/** The ids of what another account of ours sent to this one. */
export function sentByUs(copies: number): string[] {
  return each(copies, ({ sent }, name) => (sent === undefined ? [] : [`${sent} ${name}`]));
}

/** Mixed by a seed, the same each time. */
export function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  const keyed = items.map((item, index) => ({ item, key: uuid(`${seed} ${index}`) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item);
}
