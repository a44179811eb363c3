// What holds for money that goes out and comes back, whatever the lines and records are.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { areWhole } from '../../test/support/outcomes.js';
import type { Candidate, LineFacts, Matched, OpenDebit, LineOutcome } from './line-outcome.js';
import { decide, type Records } from './match.js';

const goLiveAt = new Date('2026-01-01T00:00:00Z');
const at = (second: number) => new Date(goLiveAt.getTime() + second * 1_000);
const ids = ['a', 'b', 'c', 'd'] as const;

const expectation = fc.record<
  Omit<Candidate, 'expectedPaymentId' | 'referenceKind' | 'referenceValue' | 'isOriginal'>
>({
  operationId: fc.constant('operation'),
  kind: fc.constant('create_transfer'),
  operationState: fc.constantFrom(
    'sending',
    'unknown',
    'succeeded',
    'needs_operator',
    'not_executed',
  ),
  isCredit: fc.boolean(),
  amountCents: fc.bigInt({ min: 1n, max: 3n }),
  paidCents: fc.bigInt({ min: 0n, max: 3n }),
  returnedCents: fc.constant(0n),
  isMultiUse: fc.constant(false),
  dueDate: fc.constant(null),
  terms: fc.constant(null),
  isWithdrawn: fc.boolean(),
});
const naming = fc.record({
  id: fc.constantFrom(...ids),
  referenceKind: fc.constantFrom('idempotency_key', 'movement_id', 'end_to_end_id', 'bill_code'),
  isOriginal: fc.boolean(),
});
const openness = fc.record({
  id: fc.constantFrom(...ids),
  tie: fc.constantFrom('original' as const, 'counterparty' as const, null),
  isKnownToBank: fc.boolean(),
  createdAt: fc.nat({ max: 3 }).map(at),
  from: fc.integer({ min: -1, max: 3 }).map(at),
  until: fc.integer({ min: 3, max: 9 }).map(at),
});
const row = fc.record({
  line: fc.record<Omit<LineFacts, 'nsu'>>({
    isCredit: fc.boolean(),
    amountCents: fc.bigInt({ min: 1n, max: 3n }),
    typeName: fc.constantFrom('CREDIT_PIX', 'CREDIT_PIX_REVERSAL', 'CREDIT_PIX_REFUND'),
    endToEndId: fc.option(fc.constantFrom('E1', 'E2')),
    originalEndToEndId: fc.option(fc.constantFrom('E1', 'E2')),
    isFresh: fc.boolean(),
    occurredAt: fc.integer({ min: -2, max: 6 }).map(at),
  }),
  named: fc.array(naming, { maxLength: 3 }),
  open: fc.array(openness, { maxLength: 3 }),
});
const book = fc
  .tuple(fc.tuple(...ids.map(() => expectation)), fc.array(row, { maxLength: 12 }))
  .map(([expectations, rows]) => {
    const expected = new Map(ids.map((id, index) => [id, expectations[index]!]));
    const lines = rows.map(({ line }, index) => ({ ...line, nsu: BigInt(index + 1) }));
    const named = rows.map(({ named: list }) =>
      list.map(({ id, ...rest }) => ({
        ...expected.get(id)!,
        ...rest,
        expectedPaymentId: id,
        referenceValue: id,
      })),
    );
    const open = rows.map(({ open: list }) =>
      list
        // As they are gathered: unpaid debits, each once.
        .filter(({ id }, index) => list.findIndex((other) => other.id === id) === index)
        .map(({ id, ...rest }) => ({ ...candidateOf(id, expected.get(id)!), ...rest }))
        .filter(({ isCredit, paidCents }) => !isCredit && paidCents === 0n),
    );
    const byNsu = <Row>(lists: Row[][]) =>
      new Map(lists.map((list, index) => [BigInt(index + 1), list]));
    const records: Records = {
      named: byNsu<Candidate>(named),
      open: byNsu<OpenDebit>(open as OpenDebit[][]),
    };
    return { expected, lines, records };
  });

function candidateOf(id: string, expected: object) {
  const unnamed = { referenceKind: '', referenceValue: '', isOriginal: false };
  return { ...(expected as Candidate), ...unnamed, expectedPaymentId: id };
}

const matchesOf = (outcomes: LineOutcome[]) =>
  outcomes.filter((outcome): outcome is Matched => outcome.outcome === 'matched');

it('every line is matched, classified, broken or waits, whole', () => {
  fc.assert(
    fc.property(book, ({ lines, records }) => {
      expect(areWhole(lines, decide(lines, records, goLiveAt))).toBe(true);
    }),
  );
});

it('the order in which lines are given changes nothing', () => {
  const mixed = book.chain((one) =>
    fc.tuple(fc.constant(one), fc.shuffledSubarray(one.lines, { minLength: one.lines.length })),
  );
  fc.assert(
    fc.property(mixed, ([{ lines, records }, shuffled]) => {
      expect(decide(shuffled, records, goLiveAt)).toEqual(decide(lines, records, goLiveAt));
    }),
  );
});

it('no more comes back than was paid', () => {
  fc.assert(
    fc.property(book, ({ expected, lines, records }) => {
      const matches = matchesOf(decide(lines, records, goLiveAt));
      for (const [id, { paidCents }] of expected) {
        const sum = (role: Matched['role']) =>
          matches
            .filter((match) => match.expectedPaymentId === id && match.role === role)
            .reduce((total, { amountCents }) => total + amountCents, 0n);
        expect(sum('reversal') <= paidCents + sum('payment')).toBe(true);
      }
    }),
  );
});

it('a rule gives one line its exact amount of what nothing else had paid before it', () => {
  fc.assert(
    fc.property(book, ({ expected, lines, records }) => {
      const paid = new Set<string>();
      for (const { role, rule, expectedPaymentId, amountCents } of matchesOf(
        decide(lines, records, goLiveAt),
      )) {
        if (role !== 'payment') continue;
        if (rule !== 'reference') {
          expect(paid.has(expectedPaymentId)).toBe(false);
          expect(expected.get(expectedPaymentId as 'a')).toMatchObject({
            amountCents,
            isCredit: false,
          });
        }
        paid.add(expectedPaymentId);
      }
    }),
  );
});

it('a line waits only while something under way, or not seen yet, could explain it', () => {
  fc.assert(
    fc.property(book, ({ lines, records }) => {
      for (const { nsu, outcome } of decide(lines, records, goLiveAt)) {
        if (outcome !== 'deferred') continue;
        const line = lines.find((each) => each.nsu === nsu)!;
        const isUnderWay = records.open
          .get(nsu)!
          .some(({ operationState }) => ['sending', 'unknown'].includes(operationState!));
        const mayComeYet = line.isFresh && (line.isCredit || line.originalEndToEndId !== null);
        expect(mayComeYet || (!line.isCredit && isUnderWay)).toBe(true);
      }
    }),
  );
});

it('a debit pays an exact amount, once', () => {
  fc.assert(
    fc.property(book, ({ expected, lines, records }) => {
      const paid = new Set<string>(
        [...expected].filter(([, { paidCents }]) => paidCents > 0n).map(([id]) => id),
      );
      for (const match of matchesOf(decide(lines, records, goLiveAt))) {
        const { expectedPaymentId, amountCents, role } = match;
        const id = expectedPaymentId as 'a';
        if (role !== 'payment' || expected.get(id)!.isCredit) continue;
        expect([expected.get(id)!.amountCents, paid.has(id)]).toEqual([amountCents, false]);
        paid.add(id);
      }
    }),
  );
});

// Debits that name one payment each, as they come in batches: what was displaced is judged again.
const debits = fc.array(
  fc.record({
    id: fc.constantFrom(...ids),
    second: fc.nat({ max: 4 }),
    amountCents: fc.constantFrom(1n, 2n),
    batch: fc.nat({ max: 3 }),
  }),
  { maxLength: 10 },
);
type Debit = LineFacts & { id: string; batch: number };

function bookOf(lines: readonly Debit[], batchOf: (line: Debit) => number): Map<bigint, string> {
  const told = new Map<bigint, string>();
  const payers = new Map<string, Debit>();
  let waiting: Debit[] = [];
  for (let batch = 0; batch <= 3 || waiting.length > 0; batch++) {
    const came = [...waiting, ...lines.filter((line) => batchOf(line) === batch)];
    waiting = [];
    const named = new Map(came.map((line) => [line.nsu, [namedBy(line, payers.get(line.id))]]));
    for (const outcome of decide(came, { named, open: new Map() }, goLiveAt)) {
      const line = lines.find(({ nsu }) => nsu === outcome.nsu)!;
      told.set(line.nsu, outcome.outcome === 'break' ? outcome.kind : outcome.outcome);
      if (outcome.outcome !== 'matched') continue;
      const before = payers.get(line.id);
      if (before) waiting.push(before);
      payers.set(line.id, line);
    }
  }
  return told;
}

function namedBy(line: Debit, payer: Debit | undefined): Candidate {
  const { id } = line;
  return {
    ...candidateOf(id, { operationId: id, kind: 'pay_bill', operationState: 'succeeded' }),
    referenceKind: 'bill_code',
    isCredit: false,
    amountCents: 1n,
    paidCents: payer?.amountCents ?? 0n,
    paidBy: payer ? { ...payer, rule: 'reference' } : null,
    returnedCents: 0n,
    isMultiUse: false,
    dueDate: null,
    terms: null,
    isWithdrawn: false,
  };
}

it('whether debits come together, or one after another in any order, they make one book', () => {
  fc.assert(
    fc.property(debits, (rows) => {
      const lines = rows.map(({ second, ...one }, index) => ({
        ...one,
        nsu: BigInt(index + 1),
        isCredit: false,
        typeName: 'DEBIT_BILL_PAYMENT',
        endToEndId: null,
        originalEndToEndId: null,
        isFresh: false,
        occurredAt: at(second),
      }));
      const sorted = (told: Map<bigint, string>) => [...told].sort(([a], [b]) => (a < b ? -1 : 1));
      const together = sorted(bookOf(lines, () => 0));
      expect(sorted(bookOf(lines, ({ batch }) => batch))).toEqual(together);
      const payments = together.filter(([, outcome]) => outcome === 'matched').length;
      const exact = new Set(
        lines.filter(({ amountCents }) => amountCents === 1n).map(({ id }) => id),
      );
      expect(payments).toBe(exact.size);
    }),
  );
});

it('what waited and is judged again, with what was matched meanwhile, still ends once', () => {
  fc.assert(
    fc.property(book, ({ lines, records }) => {
      const first = decide(lines, records, goLiveAt);
      const waiting = new Set(
        first.filter(({ outcome }) => outcome === 'deferred').map(({ nsu }) => nsu),
      );
      const paid = matchesOf(first);
      const later = <Row extends Candidate>(list: readonly Row[]): Row[] =>
        list.map((each) => {
          const own = paid.filter(
            ({ expectedPaymentId }) => expectedPaymentId === each.expectedPaymentId,
          );
          const sum = (role: Matched['role']) =>
            own
              .filter((match) => match.role === role)
              .reduce((total, match) => total + match.amountCents, 0n);
          return {
            ...each,
            paidCents: each.paidCents + sum('payment'),
            returnedCents: each.returnedCents + sum('reversal'),
            operationState: 'succeeded',
          };
        });
      const known: Records = {
        named: new Map([...records.named].map(([nsu, list]) => [nsu, later(list)])),
        open: new Map(),
      };
      const again = decide(
        lines.filter(({ nsu }) => waiting.has(nsu)).map((line) => ({ ...line, isFresh: false })),
        known,
        goLiveAt,
      );
      expect(again.every(({ outcome }) => outcome !== 'deferred')).toBe(true);
      expect(again).toHaveLength(waiting.size);
    }),
  );
});
