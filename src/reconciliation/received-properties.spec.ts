// What holds for money that comes, in parts or for several charges, and that the bank gives back.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Candidate, LineFacts, Matched, Received } from './line-outcome.js';
import { decide, type Records } from './match.js';

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
  returnedCents: 0n,
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
  named: fc.subarray(['a', 'b', 'c'] as Id[]),
  /** Of a debit, the credit of this place that it gives back. */
  original: fc.nat({ max: 11 }),
  isFresh: fc.boolean(),
});

const book = fc.array(row, { maxLength: 12 }).map((rows) => {
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
  const named = rows.map((one, nsu): [bigint, Candidate[]] => [
    BigInt(nsu),
    one.isCredit ? one.named.map(candidate) : [],
  ]);
  const received = rows.map((one, nsu): [bigint, Received[]] => {
    const line = one.isCredit ? undefined : lines[one.original];
    if (!line?.isCredit) return [BigInt(nsu), []];
    const { nsu: creditNsu, amountCents: creditCents } = line;
    const endToEndId = `E${creditNsu}`;
    return [BigInt(nsu), [{ creditNsu, creditCents, endToEndId, refundedCents: 0n, paid: null }]];
  });
  const records: Records = {
    named: new Map(named),
    open: new Map(),
    received: new Map(received),
  };
  return { lines, records };
});

const sumOf = (matches: Matched[]) =>
  matches.reduce((sum, { amountCents }) => sum + amountCents, 0n);

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

it('the matches of a line add up to it, or it has another verdict, once', () => {
  fc.assert(
    fc.property(book, ({ lines, records }) => {
      const outcomes = decide(lines, records, goLiveAt);
      for (const { nsu, amountCents } of lines) {
        const own = outcomes.filter((outcome) => outcome.nsu === nsu);
        const matches = own.filter((outcome): outcome is Matched => outcome.outcome === 'matched');
        if (matches.length > 0) expect(sumOf(matches)).toBe(amountCents);
        expect(own).toHaveLength(matches.length || 1);
      }
    }),
  );
});

it('no more of a credit goes back than came, and only to where it was matched', () => {
  fc.assert(
    fc.property(book, ({ lines, records }) => {
      const outcomes = decide(lines, records, goLiveAt);
      const matches = outcomes.filter((one): one is Matched => one.outcome === 'matched');
      const backOf = (credit: LineFacts) => {
        const debits = lines.filter((line) => line.originalEndToEndId === credit.endToEndId);
        const nsus = new Set(debits.map(({ nsu }) => nsu));
        return matches.filter(({ role, nsu }) => role === 'reversal' && nsus.has(nsu));
      };
      for (const credit of lines.filter(({ isCredit }) => isCredit)) {
        const paid = matches.filter(({ nsu, role }) => nsu === credit.nsu && role === 'payment');
        const given = backOf(credit);
        expect(sumOf(given) <= sumOf(paid)).toBe(true);
        const ids = paid.map(({ expectedPaymentId }) => expectedPaymentId);
        for (const { expectedPaymentId } of given) expect(ids).toContain(expectedPaymentId);
      }
    }),
  );
});

it('a line pays several only where all that it names is owed just that, and none of them alone', () => {
  fc.assert(
    fc.property(book, ({ lines, records }) => {
      const outcomes = decide(lines, records, goLiveAt);
      for (const { nsu, amountCents, isCredit } of lines.filter((line) => line.isCredit)) {
        const owed = records.named.get(nsu)!.map((each) => each.amountCents!);
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
