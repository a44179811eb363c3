import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { writeAdjustments } from '../contract/charge-terms.js';
import { findSettlementBreaks, type ReviewedCredit } from './settlement-review.js';

const at = (second: number) => new Date(Date.UTC(2026, 1, 2, 12, 0, second));
const credit = (
  payments: [cents: number, refundedCredits?: number][],
  change: Partial<ReviewedCredit> = {},
): ReviewedCredit => ({
  expectedPaymentId: 'a',
  amountCents: 1_000n,
  isMultiUse: false,
  dueDate: null,
  terms: null,
  cancelledAt: null,
  expiredAt: null,
  payments: payments.map(([cents, refundedCredits = 0], index) => ({
    nsu: BigInt(index + 1),
    occurredAt: at(index),
    amountCents: BigInt(cents),
    rule: 'reference',
    refundedCents: BigInt(refundedCredits),
    toleratedCents: null,
  })),
  ...change,
});
const told = (...credits: ReviewedCredit[]) =>
  findSettlementBreaks(credits).map(
    ({ kind, nsu, amountCents }) => `${kind} ${nsu} ${amountCents}`,
  );

describe('what was paid of a charge of 1000', () => {
  it.each<[string, [number, number?][], string[]]>([
    ['once', [[1_000]], []],
    ['in instalments', [[400], [350], [250]], []],
    ['less', [[400], [300]], ['underpaid 2 300']],
    ['more', [[1_200]], ['overpaid 1 200']],
    ['more with the last instalment', [[400], [900]], ['overpaid 2 300']],
    ['twice', [[1_000], [1_000]], ['duplicate_payment 2 1000']],
    ['thrice', [[1_000], [1_000], [10]], ['duplicate_payment 2 1000', 'duplicate_payment 3 10']],
    ['twice, the second given back', [[1_000], [1_000, 1_000]], []],
    ['twice, the first given back', [[1_000, 1_000], [1_000]], []],
    ['twice, the second given back in part', [[1_000], [1_000, 400]], ['duplicate_payment 2 600']],
    ['twice, the first given back in part', [[1_000, 100], [1_000]], ['duplicate_payment 2 1000']],
    [
      'more with the last instalment, and a part of the first given back',
      [[400, 100], [900]],
      ['overpaid 2 200'],
    ],
    ['more, the excess given back', [[1_200, 200]], []],
    ['more, a part of the excess given back', [[1_200, 50]], ['overpaid 1 150']],
    ['and given back for the seller’s reasons', [[1_000, 300]], []],
    ['less, and given back', [[400, 400]], []],
  ])('%s', (_, payments, breaks) => expect(told(credit(payments))).toEqual(breaks));

  it('after the bank had cancelled it is told once for each line, whatever else it is', () => {
    const cancelled = credit([[400], [900], [1_000]], { cancelledAt: at(99) });
    expect(told(cancelled)).toEqual([
      'paid_after_cancellation 1 400',
      'paid_after_cancellation 2 900',
      'paid_after_cancellation 3 1000',
    ]);
  });

  it.each([
    ['by a reference, whenever that was', 'reference', 0, ['paid_after_cancellation 1 1000']],
    ['by a rule before it', 'declared', 0, []],
    ['by a rule after it', 'declared', 9, ['paid_after_cancellation 1 1000']],
    ['by hand, whenever that was', 'manual', 9, []],
  ])('and then cancelled: matched %s', (_, rule, second, breaks) => {
    const cancelled = credit([[1_000]], { cancelledAt: at(5), expiredAt: null });
    Object.assign(cancelled.payments[0] ?? {}, { rule, occurredAt: at(second) });
    expect(told(cancelled)).toEqual(breaks);
  });

  it('after its time is told of the lines after it alone', () => {
    const expired = credit([[400], [600]], { expiredAt: at(0) });
    expect(told(expired)).toEqual(['paid_after_expiry 2 600']);
  });

  it.each<[string, [number, number?][], string[]]>([
    ['less is what is still owed', [[400]], ['underpaid 1 600']],
    [
      'twice is once too late and once too many',
      [[1_000], [1_000]],
      ['paid_after_expiry 1 1000', 'duplicate_payment 2 1000'],
    ],
    ['more is too much', [[1_200]], ['overpaid 1 200']],
  ])('after its time, %s', (_, payments, breaks) =>
    expect(told(credit(payments, { expiredAt: at(-1) }))).toEqual(breaks),
  );

  it('after its time is right where a fine was asked for, and wrong without it', () => {
    const fine = { isPercentage: true, date: '2026-03-02', amount: 200n };
    const terms = writeAdjustments({ discounts: [], fine, interest: null });
    const late = { expiredAt: at(-1), dueDate: '2026-03-02', terms };
    const paidLate = (cents: number) => {
      const paid = credit([[cents]], late);
      for (const payment of paid.payments) payment.occurredAt = new Date('2026-04-20T15:00:00Z');
      return told({ ...paid, expiredAt: new Date('2026-03-03T12:00:00Z') });
    };
    expect(paidLate(1_020)).toEqual([]);
    expect(paidLate(1_000)).toEqual(['underpaid 1 20']);
  });

  it('leaves alone what a declared rule tolerates, and tells what comes on top of it', () => {
    const tolerated = credit([[990], [500]]);
    Object.assign(tolerated.payments[0] ?? {}, { toleratedCents: 990n });
    expect(told(tolerated)).toEqual(['duplicate_payment 2 500']);
    tolerated.payments.pop();
    expect(told(tolerated)).toEqual([]);
  });

  it('is what was owed on the day of the payment', () => {
    const discounts = [{ isPercentage: false, date: '2026-02-02', amount: '100' }];
    const terms = JSON.stringify({ discounts, fine: null, interest: null });
    const discounted = { terms, dueDate: '2026-02-02' };
    expect(told(credit([[900]], discounted))).toEqual([]);
    expect(told(credit([[1_000]], discounted))).toEqual(['overpaid 1 100']);
    expect(told(credit([[800]], discounted))).toEqual(['underpaid 1 100']);
  });

  it('by a line that pays another too is told once, with what both come to', () => {
    const again = [credit([[1_000], [1_000]]), credit([[500], [500]], { amountCents: 500n })];
    again[1]!.expectedPaymentId = 'b';
    expect(told(...again)).toEqual(['duplicate_payment 2 1500']);
    again[1]!.cancelledAt = at(99);
    expect(told(...again)).toEqual(['paid_after_cancellation 2 500', 'paid_after_cancellation 1 500']);
  });
});

describe('what was paid of a static QR code', () => {
  it('of 1000 is wrong only where a payment is of another amount', () => {
    const qr = credit([[1_000], [1_000], [900], [1_300], [1_300, 300]], { isMultiUse: true });
    expect(told(qr)).toEqual(['underpaid 3 100', 'overpaid 4 300']);
  });

  it('of no amount is never wrong', () =>
    expect(told(credit([[5], [7]], { isMultiUse: true, amountCents: null }))).toEqual([]));
});

const payments = fc.array(
  fc
    .tuple(fc.integer({ min: 1, max: 1_500 }), fc.constantFrom(0, 0.3, 1))
    .map(([cents, back]) => [cents, Math.floor(cents * back)] as [number, number]),
  { maxLength: 8 },
);

it('the order in which payments are given changes nothing', () => {
  const mixed = payments.chain((all) =>
    fc.tuple(
      fc.constant(credit(all)),
      fc.shuffledSubarray(credit(all).payments, { minLength: all.length }),
    ),
  );
  fc.assert(
    fc.property(mixed, ([one, shuffled]) => {
      expect(findSettlementBreaks([{ ...one, payments: shuffled }])).toEqual(
        findSettlementBreaks([one]),
      );
    }),
  );
});

it('a line has one break at most, and what is too much is told to the cent', () => {
  fc.assert(
    fc.property(payments, (all) => {
      const found = findSettlementBreaks([credit(all)]);
      expect(new Set(found.map(({ nsu }) => nsu)).size).toBe(found.length);
      // The payment that settles is too much by what is left of all until then; each after it is so as far as it is left.
      // By the net sum alone, a part given back of the first would turn the second into an excess of another amount.
      let [gross, net] = [0, 0];
      const over = all.map(([cents, refundedCredits]) => {
        if (refundedCredits === cents) return 0;
        const wasSettled = gross >= 1_000;
        [gross, net] = [gross + cents, net + cents - refundedCredits];
        return wasSettled ? cents - refundedCredits : Math.max(0, net - 1_000);
      });
      const excess = found
        .filter(({ kind }) => kind !== 'underpaid')
        .reduce((sum, { amountCents }) => sum + Number(amountCents), 0);
      expect(excess).toBe(over.reduce((sum, cents) => sum + cents, 0));
    }),
  );
});
