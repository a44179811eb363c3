// Properties of lines matched by reference, for arbitrary lines and expected payments.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { areLinesFullyDecided, groupOutcomesByLine } from '../../test/support/outcomes.js';
import type { Candidate, LineFacts, Matched } from './line-outcome.js';
import { decide as decideAll } from './match.js';

const goLiveAt = new Date('2026-01-01T00:00:00Z');
const decide = (
  lines: readonly LineFacts[],
  referenced: ReadonlyMap<bigint, readonly Candidate[]>,
) => decideAll(lines, { referenced, openDebits: new Map() }, goLiveAt);

const ids = ['a', 'b', 'c'];
const expected = fc.tuple(
  ...ids.map((id) =>
    fc.record<Candidate>({
      expectedPaymentId: fc.constant(id),
      operationId: fc.constant(id),
      kind: fc.constant('create_charge'),
      operationState: fc.constant('succeeded'),
      isOriginal: fc.constant(false),
      reversedCents: fc.constant(0n),
      isCredit: fc.boolean(),
      amountCents: fc.option(fc.bigInt({ min: 1n, max: 4n }), { freq: 9 }),
      paidCents: fc.bigInt({ min: 0n, max: 5n }),
      isMultiUse: fc.boolean(),
      dueDate: fc.constant(null),
      terms: fc.constant(null),
      isWithdrawn: fc.boolean(),
      referenceKind: fc.constant('correlation_id'),
      referenceValue: fc.constant(id),
    }),
  ),
);
const referencing = fc.array(
  fc.record({
    references: fc.array(fc.nat({ max: 2 }), { maxLength: 3 }),
    isCredit: fc.boolean(),
    amountCents: fc.bigInt({ min: 0n, max: 8n }),
    second: fc.integer({ min: -2, max: 5 }),
  }),
  { maxLength: 12 },
);
const scenario = fc.tuple(expected, referencing).map(([payments, rows]) => {
  const lines = rows.map<LineFacts>(({ isCredit, amountCents, second }, index) => ({
    nsu: BigInt(index + 1),
    isCredit,
    amountCents,
    typeName: 'CREDIT_PIX',
    endToEndId: null,
    originalEndToEndId: null,
    isFresh: false,
    occurredAt: new Date(goLiveAt.getTime() + second * 1_000),
  }));
  const candidates = new Map(
    rows.map(({ references }, index) => [
      BigInt(index + 1),
      references.map((reference) => payments[reference] as Candidate),
    ]),
  );
  return { payments: payments as Candidate[], lines, candidates };
});
it('gives every line one outcome of its amount, or matches that add up to it', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      expect(areLinesFullyDecided(lines, decide(lines, candidates))).toBe(true);
    }),
  );
});

it('gives the same outcomes in any order of input', () => {
  const shuffled = scenario.chain((one) =>
    fc.tuple(fc.constant(one), fc.shuffledSubarray(one.lines, { minLength: one.lines.length })),
  );
  fc.assert(
    fc.property(shuffled, ([{ lines, candidates }, mixed]) => {
      expect(decide(mixed, candidates)).toEqual(decide(lines, candidates));
    }),
  );
});

/** The expected payments that the line references and may pay, each once. */
function fittingOf(line: LineFacts, candidates: readonly Candidate[]): Candidate[] {
  const able = candidates.filter((each) => !each.isWithdrawn && each.isCredit === line.isCredit);
  return [...new Map(able.map((each) => [each.expectedPaymentId, each])).values()];
}

/** Whether the line equals the total owed of all payments, and the amount of no single payment. */
function isPaidTogether(line: LineFacts, fitting: readonly Candidate[]): boolean {
  if (fitting.some(({ isMultiUse, amountCents }) => isMultiUse || amountCents === null))
    return false;
  const owed = fitting.map(({ amountCents }) => amountCents ?? 0n);
  if (owed.includes(line.amountCents)) return false;
  return owed.reduce((sum, cents) => sum + cents, 0n) === line.amountCents;
}

it('matches a credit only to its one referenced payment, or to all if it equals their total', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      const credits = lines.filter(({ isCredit }) => isCredit);
      const decided = groupOutcomesByLine(decide(credits, candidates));
      for (const credit of credits) {
        const fitting = fittingOf(credit, candidates.get(credit.nsu) ?? []);
        const outcomes = decided.get(credit.nsu) ?? [];
        if (fitting.length === 1 || (fitting.length > 1 && isPaidTogether(credit, fitting)))
          expect(outcomes).toMatchObject(
            fitting.map(({ expectedPaymentId }) => ({ outcome: 'matched', expectedPaymentId })),
          );
        else if (credit.occurredAt < goLiveAt)
          expect(outcomes).toMatchObject([{ outcome: 'classified', category: 'before_go_live' }]);
        else
          expect(outcomes).toMatchObject([
            { outcome: 'break', kind: fitting.length > 1 ? 'ambiguous' : 'unexpected' },
          ]);
      }
    }),
  );
});

it('computes the settlement of the last payment from the total of all payments', () => {
  fc.assert(
    fc.property(scenario, ({ payments, lines, candidates }) => {
      const outcomes = decide(lines, candidates);
      for (const { expectedPaymentId, amountCents, paidCents, isMultiUse } of payments) {
        const own = outcomes.filter(
          (outcome) =>
            outcome.outcome === 'matched' && outcome.expectedPaymentId === expectedPaymentId,
        ) as Matched[];
        if (own.length === 0) continue;
        const total = own.reduce((sum, match) => sum + match.amountCents, paidCents);
        const isMore = amountCents !== null && total > amountCents;
        const isLess = amountCents !== null && total < amountCents;
        const last = own.at(-1)?.settlement;
        expect(last === 'partially_settled').toBe(isLess);
        expect(last === 'overpaid').toBe(isMore && !isMultiUse);
      }
    }),
  );
});
