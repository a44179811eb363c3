// Scenarios with every kind of break that a credit or a sent payment can have: expected payments
// and lines. Each scenario is copied several times.
import { createHash } from 'node:crypto';

export interface ScenarioLine {
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

type LineFields = Partial<Omit<ScenarioLine, 'nsu' | 'second'>>;
interface ScenarioExpectedPayment {
  reference: string;
  cents: number;
  kind?: string;
  is_credit?: boolean;
  multi?: boolean;
  cancelled?: boolean;
  expired?: string;
  document?: string;
}

interface Scenario {
  expected: ScenarioExpectedPayment[];
  lines: LineFields[];
  /** Another account of the service sent a Pix with this end-to-end id. */
  ownTransferId?: string;
}

const credit = (cents: number, more: LineFields = {}): LineFields => ({
  cents,
  correlation: 'c',
  ...more,
});
const refund = (cents: number, more: LineFields = {}): LineFields => ({
  cents,
  is_credit: false,
  type: 'DEBIT_PIX_REFUND',
  original: 'E',
  ...more,
});
const debit = (more: LineFields = {}): LineFields => ({
  cents: 1_000,
  is_credit: false,
  type: 'DEBIT_PIX',
  external: 'c',
  ...more,
});
const charge = (more: Partial<ScenarioExpectedPayment> = {}): ScenarioExpectedPayment => ({
  reference: 'c',
  cents: 1_000,
  ...more,
});
const sentPayment = charge({ kind: 'external_id', is_credit: false });

/** The lines of each scenario are in the order in which they happen. */
const scenarios: Scenario[] = [
  { expected: [charge()], lines: [credit(1_000)] },
  { expected: [charge()], lines: [credit(1_000), credit(1_000)] },
  { expected: [charge()], lines: [credit(400), credit(600)] },
  { expected: [charge()], lines: [credit(400), credit(300)] },
  { expected: [charge()], lines: [credit(400), credit(900)] },
  { expected: [charge({ cancelled: true })], lines: [credit(1_000), credit(1_000)] },
  { expected: [charge({ expired: '2026-01-01' })], lines: [credit(1_000)] },
  { expected: [], lines: [credit(1_000)] },
  { expected: [charge()], lines: [credit(1_000, { e2e: 'E' }), refund(1_000)] },
  { expected: [charge()], lines: [credit(1_000, { e2e: 'E' }), refund(300), refund(500)] },
  // The second payment is refunded: nothing is left to resolve.
  { expected: [charge()], lines: [credit(1_000), credit(1_000, { e2e: 'E' }), refund(1_000)] },
  { expected: [charge()], lines: [credit(1_000), credit(1_000, { e2e: 'E' }), refund(400)] },
  { expected: [charge(), charge({ cents: 500 })], lines: [credit(1_500)] },
  { expected: [charge(), charge({ cents: 500 })], lines: [credit(1_500), credit(1_500)] },
  { expected: [charge(), charge({ cents: 500 })], lines: [credit(1_000)] },
  { expected: [charge({ multi: true })], lines: [credit(1_000), credit(1_000), credit(900)] },
  { expected: [], lines: [credit(1_000, { e2e: 'E' }), refund(1_000)] },
  { expected: [sentPayment], lines: [debit({ e2e: 'E' })] },
  {
    expected: [sentPayment],
    lines: [debit({ e2e: 'E' }), credit(1_000, { type: 'CREDIT_PIX_REVERSAL', e2e: 'E' })],
  },
  {
    expected: [sentPayment],
    lines: [
      debit({ e2e: 'E' }),
      debit({ e2e: 'E' }),
      credit(1_000, { type: 'CREDIT_PIX_REVERSAL', e2e: 'E' }),
    ],
  },
  // Two charges of one payer, of which the bank cancels one.
  {
    expected: [
      charge({ reference: 'a', document: 'D' }),
      charge({ reference: 'b', document: 'D', cancelled: true }),
    ],
    lines: [credit(1_000, { correlation: undefined, document: 'D' })],
  },
  { expected: [], lines: [credit(1_000, { e2e: 'O' })], ownTransferId: 'O' },
];

/** The open breaks of one copy of all scenarios, by kind. */
export const openBreaksPerCopy = {
  ambiguous: 2,
  duplicate_payment: 4,
  overpaid: 1,
  paid_after_expiry: 1,
  paid_after_cancellation: 2,
  underpaid: 2,
  unexpected: 3,
};

const uuid = (text: string) => createHash('md5').update(text).digest('hex');

export function scenarioExpectedPayments(copies: number) {
  return copyScenarios(copies, ({ expected }, name) =>
    expected.map((each, index) => ({
      ...{ kind: 'correlation_id', is_credit: true, multi: false, cancelled: false, expired: null },
      ...each,
      id: uuid(`expected ${name} ${index}`),
      operation: uuid(`operation ${name} ${index}`),
      reference: `${each.reference} ${name}`,
      document: each.document && `${each.document} ${name}`,
    })),
  );
}

export function scenarioLines(copies: number): ScenarioLine[] {
  const lines = copyScenarios(copies, (scenario, name) =>
    scenario.lines.map((line) => {
      const unique = (value: string | undefined) => value && `${value} ${name}`;
      const { correlation, e2e, original, external, document } = line;
      return {
        ...{ is_credit: true, cents: 0, type: 'CREDIT_PIX' },
        ...line,
        ...{ correlation: unique(correlation), e2e: unique(e2e) },
        ...{ original: unique(original), external: unique(external) },
        document: unique(document),
      };
    }),
  );
  return lines.map((line, index) => ({ ...line, nsu: index + 1, second: index }) as ScenarioLine);
}

function copyScenarios<Row>(
  copies: number,
  rowsOf: (scenario: Scenario, name: string) => Row[],
): Row[] {
  return Array.from({ length: copies }).flatMap((_, copy) =>
    scenarios.flatMap((scenario, index) => rowsOf(scenario, `${index}/${copy}`)),
  );
}

/** The end-to-end ids of what another account of the service sent to this account. */
export function ownTransferIds(copies: number): string[] {
  return copyScenarios(copies, ({ ownTransferId }, name) =>
    ownTransferId === undefined ? [] : [`${ownTransferId} ${name}`],
  );
}

/** Shuffles by a seed: the same seed gives the same order. */
export function shuffleItems<Item>(items: readonly Item[], seed: number): Item[] {
  const keyed = items.map((item, index) => ({ item, key: uuid(`${seed} ${index}`) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item);
}
