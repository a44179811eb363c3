// Properties of received money: in parts, for several charges, or refunded by the bank.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Candidate, LineFacts, Matched, OriginalCredit } from './line-outcome.js';
import { decide, type LineCandidates } from './match.js';

const goLiveAt = new Date('2026-01-01T00:00:00Z');
const charges = { a: 3n, b: 2n, c: 4n };
type Id = keyof typeof charges;

const candidate = (expectedPaymentId: Id): Candidate => ({
  expectedPaymentId,
  operationId: 'operation',
  kind: 'create_charge',
  operationState: 'succeeded',
  isCredit: true,
  amountCents: charges[expectedPaymentId],
  paidCents: 0n,
  reversedCents: 0n,
  isMultiUse: false,
  dueDate: null,
  terms: null,
  isWithdrawn: false,
  referenceKind: 'correlation_id',
  referenceValue: expectedPaymentId,
  isOriginal: false,
});

const row = fc.record({
  isCredit: fc.boolean(),
  amountCents: fc.bigInt({ min: 1n, max: 5n }),
  second: fc.nat({ max: 5 }),
  referenced: fc.subarray(['a', 'b', 'c'] as Id[]),
  /** Of a debit, the index of the credit that it refunds. */
  original: fc.nat({ max: 11 }),
  isFresh: fc.boolean(),
});

const scenario = fc.array(row, { maxLength: 12 }).map((rows) => {
  const lines = rows.map<LineFacts>(
    ({ isCredit, amountCents, second, original, isFresh }, index) => ({
      nsu: BigInt(index),
      isCredit,
      amountCents,
      typeName: isCredit ? 'CREDIT_PIX' : 'DEBIT_PIX_REFUND',
      endToEndId: isCredit ? `E${index}` : null,
      originalEndToEndId: isCredit ? null : `E${original}`,
      isFresh,
      occurredAt: new Date(goLiveAt.getTime() + second * 1_000),
    }),
  );
  const referenced = rows.map((one, nsu): [bigint, Candidate[]] => [
    BigInt(nsu),
    one.isCredit ? one.referenced.map(candidate) : [],
  ]);
  const originalCredits = rows.map((one, nsu): [bigint, OriginalCredit[]] => {
    const line = one.isCredit ? undefined : lines[one.original];
    if (!line?.isCredit) return [BigInt(nsu), []];
    const { nsu: creditNsu, amountCents: creditCents } = line;
    const endToEndId = `E${creditNsu}`;
    return [BigInt(nsu), [{ creditNsu, creditCents, endToEndId, refundedCents: 0n, paid: null }]];
  });
  const candidates: LineCandidates = {
    referenced: new Map(referenced),
    openDebits: new Map(),
    originalCredits: new Map(originalCredits),
  };
  return { lines, candidates };
});

const sumOf = (matches: Matched[]) =>
  matches.reduce((sum, { amountCents }) => sum + amountCents, 0n);

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

it('gives every line matches that add up to it, or one other outcome', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      const outcomes = decide(lines, candidates, goLiveAt);
      for (const { nsu, amountCents } of lines) {
        const own = outcomes.filter((outcome) => outcome.nsu === nsu);
        const matches = own.filter((outcome): outcome is Matched => outcome.outcome === 'matched');
        if (matches.length > 0) expect(sumOf(matches)).toBe(amountCents);
        expect(own).toHaveLength(matches.length || 1);
      }
    }),
  );
});

it('refunds at most what a credit paid, and only payments that the credit was matched to', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      const outcomes = decide(lines, candidates, goLiveAt);
      const matches = outcomes.filter((one): one is Matched => one.outcome === 'matched');
      const refundsOf = (credit: LineFacts) => {
        const debits = lines.filter((line) => line.originalEndToEndId === credit.endToEndId);
        const nsus = new Set(debits.map(({ nsu }) => nsu));
        return matches.filter(({ role, nsu }) => role === 'reversal' && nsus.has(nsu));
      };
      for (const credit of lines.filter(({ isCredit }) => isCredit)) {
        const paid = matches.filter(({ nsu, role }) => nsu === credit.nsu && role === 'payment');
        const refunds = refundsOf(credit);
        expect(sumOf(refunds) <= sumOf(paid)).toBe(true);
        const ids = paid.map(({ expectedPaymentId }) => expectedPaymentId);
        for (const { expectedPaymentId } of refunds) expect(ids).toContain(expectedPaymentId);
      }
    }),
  );
});

it('splits a line only if it equals the total owed of all its references, and of none alone', () => {
  fc.assert(
    fc.property(scenario, ({ lines, candidates }) => {
      const outcomes = decide(lines, candidates, goLiveAt);
      for (const { nsu, amountCents, isCredit } of lines.filter((line) => line.isCredit)) {
        const owed = candidates.referenced.get(nsu)!.map((each) => each.amountCents!);
        const isAll =
          isCredit &&
          owed.length > 1 &&
          owed.reduce((sum, one) => sum + one, 0n) === amountCents &&
          !owed.includes(amountCents);
        const own = outcomes.filter((outcome) => outcome.nsu === nsu);
        expect(own.length > 1).toBe(isAll);
      }
    }),
  );
});
