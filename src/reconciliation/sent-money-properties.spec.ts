// Properties of sent and reversed money, for arbitrary lines and expected payments.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { areLinesFullyDecided } from '../../test/support/outcomes.js';
import type { Candidate, LineFacts, Matched, OpenDebit, LineOutcome } from './line-outcome.js';
import { decide, type LineCandidates } from './match.js';

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
  reversedCents: fc.constant(0n),
  isMultiUse: fc.constant(false),
  dueDate: fc.constant(null),
  terms: fc.constant(null),
  isWithdrawn: fc.boolean(),
});
const referencing = fc.record({
  id: fc.constantFrom(...ids),
  referenceKind: fc.constantFrom('idempotency_key', 'movement_id', 'end_to_end_id', 'bill_code'),
  isOriginal: fc.boolean(),
});
const openDebit = fc.record({
  id: fc.constantFrom(...ids),
  sharedReference: fc.constantFrom('original' as const, 'counterparty' as const, null),
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
  referenced: fc.array(referencing, { maxLength: 3 }),
  openDebits: fc.array(openDebit, { maxLength: 3 }),
});
const scenario = fc
  .tuple(fc.tuple(...ids.map(() => expectation)), fc.array(row, { maxLength: 12 }))
  .map(([expectations, rows]) => {
    const expected = new Map(ids.map((id, index) => [id, expectations[index]!]));
    const lines = rows.map(({ line }, index) => ({ ...line, nsu: BigInt(index + 1) }));
    const referenced = rows.map(({ referenced: list }) =>
      list.map(({ id, ...rest }) => ({
        ...expected.get(id)!,
        ...rest,
        expectedPaymentId: id,
        referenceValue: id,
      })),
    );
    const openDebits = rows.map(({ openDebits: list }) =>
      list
        // As they are loaded: unpaid debits, each once.
        .filter(({ id }, index) => list.findIndex((other) => other.id === id) === index)
        .map(({ id, ...rest }) => ({ ...candidateOf(id, expected.get(id)!), ...rest }))
        .filter(({ isCredit, paidCents }) => !isCredit && paidCents === 0n),
    );
    const byNsu = <Row>(lists: Row[][]) =>
      new Map(lists.map((list, index) => [BigInt(index + 1), list]));
    const candidates: LineCandidates = {
      referenced: byNsu<Candidate>(referenced),
      openDebits: byNsu<OpenDebit>(openDebits as OpenDebit[][]),
    };
    return { expected, lines, candidates };
  });

function candidateOf(id: string, expected: object) {
  const noReference = { referenceKind: '', referenceValue: '', isOriginal: false };
  return { ...(expected as Candidate), ...noReference, expectedPaymentId: id };
}

const matchesOf = (outcomes: LineOutcome[]) =>
  outcomes.filter((outcome): outcome is Matched => outcome.outcome === 'matched');

it('gives every line one outcome of its amount, or matches that add up to it', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      expect(areLinesFullyDecided(lines, decide(lines, candidates, goLiveAt))).toBe(true);
    }),
  );
});

it('gives the same outcomes in any order of input', () => {
  const mixed = scenario.chain((one) =>
    fc.tuple(fc.constant(one), fc.shuffledSubarray(one.lines, { minLength: one.lines.length })),
  );
  fc.assert(
    fc.property(mixed, ([{ lines, candidates }, shuffled]) => {
      expect(decide(shuffled, candidates, goLiveAt)).toEqual(decide(lines, candidates, goLiveAt));
    }),
  );
});

it('never reverses more than was paid', () => {
  fc.assert(
    fc.property(scenario, ({ expected, lines, candidates }) => {
      const matches = matchesOf(decide(lines, candidates, goLiveAt));
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

it('matches by rule only the exact amount of an unpaid debit, once', () => {
  fc.assert(
    fc.property(scenario, ({ expected, lines, candidates }) => {
      const paid = new Set<string>();
      for (const { role, rule, expectedPaymentId, amountCents } of matchesOf(
        decide(lines, candidates, goLiveAt),
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

it('leaves a line pending only while an operation or a line to come may explain it', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      for (const { nsu, outcome } of decide(lines, candidates, goLiveAt)) {
        if (outcome !== 'pending') continue;
        const line = lines.find((each) => each.nsu === nsu)!;
        const isInProgress = candidates.openDebits
          .get(nsu)!
          .some(({ operationState }) => ['sending', 'unknown'].includes(operationState!));
        const mayStillArrive = line.isFresh && (line.isCredit || line.originalEndToEndId !== null);
        expect(mayStillArrive || (!line.isCredit && isInProgress)).toBe(true);
      }
    }),
  );
});

it('pays a debit once, and only with the exact amount', () => {
  fc.assert(
    fc.property(scenario, ({ expected, lines, candidates }) => {
      const paid = new Set<string>(
        [...expected].filter(([, { paidCents }]) => paidCents > 0n).map(([id]) => id),
      );
      for (const match of matchesOf(decide(lines, candidates, goLiveAt))) {
        const { expectedPaymentId, amountCents, role } = match;
        const id = expectedPaymentId as 'a';
        if (role !== 'payment' || expected.get(id)!.isCredit) continue;
        expect([expected.get(id)!.amountCents, paid.has(id)]).toEqual([amountCents, false]);
        paid.add(id);
      }
    }),
  );
});

// Debits that reference one payment each and arrive in batches: displaced lines are decided again.
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

function outcomesInBatches(
  lines: readonly Debit[],
  batchOf: (line: Debit) => number,
): Map<bigint, string> {
  const outcomes = new Map<bigint, string>();
  const payingLines = new Map<string, Debit>();
  let displaced: Debit[] = [];
  for (let batch = 0; batch <= 3 || displaced.length > 0; batch++) {
    const arrived = [...displaced, ...lines.filter((line) => batchOf(line) === batch)];
    displaced = [];
    const referenced = new Map(
      arrived.map((line) => [line.nsu, [referencedBy(line, payingLines.get(line.id))]]),
    );
    for (const outcome of decide(arrived, { referenced, openDebits: new Map() }, goLiveAt)) {
      const line = lines.find(({ nsu }) => nsu === outcome.nsu)!;
      outcomes.set(line.nsu, outcome.outcome === 'break' ? outcome.kind : outcome.outcome);
      if (outcome.outcome !== 'matched') continue;
      const before = payingLines.get(line.id);
      if (before) displaced.push(before);
      payingLines.set(line.id, line);
    }
  }
  return outcomes;
}

function referencedBy(line: Debit, earlier: Debit | undefined): Candidate {
  const { id } = line;
  return {
    ...candidateOf(id, { operationId: id, kind: 'pay_bill', operationState: 'succeeded' }),
    referenceKind: 'bill_code',
    isCredit: false,
    amountCents: 1n,
    paidCents: earlier?.amountCents ?? 0n,
    payingLine: earlier ? { ...earlier, rule: 'reference' } : null,
    reversedCents: 0n,
    isMultiUse: false,
    dueDate: null,
    terms: null,
    isWithdrawn: false,
  };
}

it('gives the same outcomes whether debits arrive in one batch or in several', () => {
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
      const sorted = (outcomes: Map<bigint, string>) =>
        [...outcomes].sort(([a], [b]) => (a < b ? -1 : 1));
      const together = sorted(outcomesInBatches(lines, () => 0));
      expect(sorted(outcomesInBatches(lines, ({ batch }) => batch))).toEqual(together);
      const payments = together.filter(([, outcome]) => outcome === 'matched').length;
      const exact = new Set(
        lines.filter(({ amountCents }) => amountCents === 1n).map(({ id }) => id),
      );
      expect(payments).toBe(exact.size);
    }),
  );
});

it('gives every pending line one final outcome when it is decided again', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      const first = decide(lines, candidates, goLiveAt);
      const pending = new Set(
        first.filter(({ outcome }) => outcome === 'pending').map(({ nsu }) => nsu),
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
            reversedCents: each.reversedCents + sum('reversal'),
            operationState: 'succeeded',
          };
        });
      const current: LineCandidates = {
        referenced: new Map([...candidates.referenced].map(([nsu, list]) => [nsu, later(list)])),
        openDebits: new Map(),
      };
      const again = decide(
        lines.filter(({ nsu }) => pending.has(nsu)).map((line) => ({ ...line, isFresh: false })),
        current,
        goLiveAt,
      );
      expect(again.every(({ outcome }) => outcome !== 'pending')).toBe(true);
      expect(again).toHaveLength(pending.size);
    }),
  );
});
