import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { serializeAdjustments } from '../../bank-contract/charge-terms.js';
import { findSettlementBreaks, type ReviewedExpectedPayment } from './payment-findings.js';

const at = (second: number) => new Date(Date.UTC(2026, 1, 2, 12, 0, second));
const reviewed = (
  payments: [cents: number, refundedCents?: number][],
  change: Partial<ReviewedExpectedPayment> = {},
): ReviewedExpectedPayment => ({
  expectedPaymentId: 'a',
  amountCents: 1_000n,
  isMultiUse: false,
  dueDate: null,
  dueDates: [],
  terms: null,
  cancelledAt: null,
  expiredAt: null,
  payments: payments.map(([cents, refundedCents = 0], index) => ({
    nsu: BigInt(index + 1),
    occurredAt: at(index),
    ...{ endToEndId: null, typeName: 'CREDIT_BANKSLIP', paidOn: null },
    creditDays: { slip: 1, pix: 0, other: 1 },
    amountCents: BigInt(cents),
    rule: 'reference',
    refundedCents: BigInt(refundedCents),
    toleratedCents: null,
  })),
  ...change,
});
const findings = (...reviewed: ReviewedExpectedPayment[]) =>
  findSettlementBreaks(reviewed).map(
    ({ kind, nsu, amountCents }) => `${kind} ${nsu} ${amountCents}`,
  );

describe('a charge of 1000, paid', () => {
  it.each<[string, [number, number?][], string[]]>([
    ['once', [[1_000]], []],
    ['in instalments', [[400], [350], [250]], []],
    ['less', [[400], [300]], ['underpaid 2 300']],
    ['more', [[1_200]], ['overpaid 1 200']],
    ['more with the last instalment', [[400], [900]], ['overpaid 2 300']],
    ['twice', [[1_000], [1_000]], ['duplicate_payment 2 1000']],
    [
      'three times',
      [[1_000], [1_000], [10]],
      ['duplicate_payment 2 1000', 'duplicate_payment 3 10'],
    ],
    ['twice, the second refunded', [[1_000], [1_000, 1_000]], []],
    ['twice, the first refunded', [[1_000, 1_000], [1_000]], []],
    ['twice, the second partly refunded', [[1_000], [1_000, 400]], ['duplicate_payment 2 600']],
    ['twice, the first partly refunded', [[1_000, 100], [1_000]], ['duplicate_payment 2 1000']],
    [
      'more with the last instalment, the first partly refunded',
      [[400, 100], [900]],
      ['overpaid 2 200'],
    ],
    ['more, the excess refunded', [[1_200, 200]], []],
    ['more, the excess partly refunded', [[1_200, 50]], ['overpaid 1 150']],
    ['and partly refunded by the seller’s choice', [[1_000, 300]], []],
    ['less, and refunded', [[400, 400]], []],
  ])('%s', (_, payments, breaks) => expect(findings(reviewed(payments))).toEqual(breaks));

  it('after its cancellation, has one break for each line, whatever else is wrong', () => {
    const cancelled = reviewed([[400], [900], [1_000]], { cancelledAt: at(99) });
    expect(findings(cancelled)).toEqual([
      'paid_after_cancellation 1 400',
      'paid_after_cancellation 2 900',
      'paid_after_cancellation 3 1000',
    ]);
  });

  it.each([
    [
      'matched by a reference at any time, has a break',
      'reference',
      0,
      ['paid_after_cancellation 1 1000'],
    ],
    ['matched by a rule before the cancellation, has no break', 'declared', 0, []],
    [
      'matched by a rule after the cancellation, has a break',
      'declared',
      9,
      ['paid_after_cancellation 1 1000'],
    ],
    ['matched manually at any time, has no break', 'manual', 9, []],
  ])('then cancelled, and %s', (_, rule, second, breaks) => {
    const cancelled = reviewed([[1_000]], { cancelledAt: at(5), expiredAt: null });
    Object.assign(cancelled.payments[0] ?? {}, { rule, occurredAt: at(second) });
    expect(findings(cancelled)).toEqual(breaks);
  });

  it('after its expiry, has breaks for the later lines only', () => {
    const expired = reviewed([[400], [600]], { expiredAt: at(0) });
    expect(findings(expired)).toEqual(['paid_after_expiry 2 600']);
  });

  it.each<[string, [number, number?][], string[]]>([
    ['is underpaid by a smaller amount', [[400]], ['underpaid 1 600']],
    [
      'has one late and one duplicate payment when paid twice',
      [[1_000], [1_000]],
      ['paid_after_expiry 1 1000', 'duplicate_payment 2 1000'],
    ],
    ['is overpaid by a larger amount', [[1_200]], ['overpaid 1 200']],
  ])('after its expiry, %s', (_, payments, breaks) =>
    expect(findings(reviewed(payments, { expiredAt: at(-1) }))).toEqual(breaks),
  );

  it('after its expiry, is right with its fine and underpaid without it', () => {
    const fine = { isPercentage: true, date: '2026-03-02', amount: 2_000_000n };
    const terms = serializeAdjustments({ discounts: [], fine, interest: null });
    const late = { expiredAt: at(-1), dueDate: '2026-03-02', terms };
    const paidLate = (cents: number) => {
      const paid = reviewed([[cents]], late);
      for (const payment of paid.payments) payment.occurredAt = new Date('2026-04-20T15:00:00Z');
      return findings({ ...paid, expiredAt: new Date('2026-03-03T12:00:00Z') });
    };
    expect(paidLate(1_020)).toEqual([]);
    expect(paidLate(1_000)).toEqual(['underpaid 1 20']);
  });

  it('within the tolerance of a rule has no break, and a further payment is a duplicate', () => {
    const tolerated = reviewed([[990], [500]]);
    Object.assign(tolerated.payments[0] ?? {}, { toleratedCents: 990n });
    expect(findings(tolerated)).toEqual(['duplicate_payment 2 500']);
    tolerated.payments.pop();
    expect(findings(tolerated)).toEqual([]);
  });

  it('is compared with the amount owed on the day of the payment', () => {
    const discounts = [{ isPercentage: false, date: '2026-02-02', amount: '100' }];
    const terms = JSON.stringify({ discounts, fine: null, interest: null });
    const discounted = { terms, dueDate: '2026-02-02' };
    expect(findings(reviewed([[900]], discounted))).toEqual([]);
    expect(findings(reviewed([[1_000]], discounted))).toEqual(['overpaid 1 100']);
    expect(findings(reviewed([[800]], discounted))).toEqual(['underpaid 1 100']);
  });

  it('by a line that pays another charge too has one break with both amounts', () => {
    const again = [reviewed([[1_000], [1_000]]), reviewed([[500], [500]], { amountCents: 500n })];
    again[1]!.expectedPaymentId = 'b';
    expect(findings(...again)).toEqual(['duplicate_payment 2 1500']);
    again[1]!.cancelledAt = at(99);
    expect(findings(...again)).toEqual([
      'paid_after_cancellation 2 500',
      'paid_after_cancellation 1 500',
    ]);
  });
});

describe('payments of a static QR code', () => {
  it('of 1000 have breaks only for other amounts', () => {
    const qr = reviewed([[1_000], [1_000], [900], [1_300], [1_300, 300]], { isMultiUse: true });
    expect(findings(qr)).toEqual(['underpaid 3 100', 'overpaid 4 300']);
  });

  it('without an amount never have breaks', () =>
    expect(findings(reviewed([[5], [7]], { isMultiUse: true, amountCents: null }))).toEqual([]));
});

const payments = fc.array(
  fc
    .tuple(fc.integer({ min: 1, max: 1_500 }), fc.constantFrom(0, 0.3, 1))
    .map(([cents, part]) => [cents, Math.floor(cents * part)] as [number, number]),
  { maxLength: 8 },
);

it('gives the same findings in any order of payments', () => {
  const mixed = payments.chain((all) =>
    fc.tuple(
      fc.constant(reviewed(all)),
      fc.shuffledSubarray(reviewed(all).payments, { minLength: all.length }),
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

it('gives a line one break at most, and reports excess amounts to the cent', () => {
  fc.assert(
    fc.property(payments, (all) => {
      const found = findSettlementBreaks([reviewed(all)]);
      expect(new Set(found.map(({ nsu }) => nsu)).size).toBe(found.length);
      // The excess of the settling payment is the net total above the amount owed. The excess of
      // each later payment is its own unrefunded part: the net total would hide it after a
      // partial refund.
      let [gross, net] = [0, 0];
      const over = all.map(([cents, refundedCents]) => {
        if (refundedCents === cents) return 0;
        const wasSettled = gross >= 1_000;
        [gross, net] = [gross + cents, net + cents - refundedCents];
        return wasSettled ? cents - refundedCents : Math.max(0, net - 1_000);
      });
      const excess = found
        .filter(({ kind }) => kind !== 'underpaid')
        .reduce((sum, { amountCents }) => sum + Number(amountCents), 0);
      expect(excess).toBe(over.reduce((sum, cents) => sum + cents, 0));
    }),
  );
});
