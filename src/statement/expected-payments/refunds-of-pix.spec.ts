import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  netCentsOf,
  refundableCents,
  refundedCentsOfPix,
  refundsOfPix,
  type OwnRefund,
  type PixLine,
  type RefundFacts,
} from './refunds-of-pix.js';

const at = (minute: number) => new Date(Date.UTC(2026, 2, 2, 12, minute));

const lineOf = (change: Partial<PixLine>): PixLine => ({
  ...{ nsu: 2n, isCredit: false, amountCents: 400n, typeName: 'DEBIT_PIX_REFUND' },
  ...{ occurredAt: at(5), idempotencyKey: null, movementId: null },
  ...{ endToEndId: null, originalEndToEndId: null },
  ...change,
});

const pix = lineOf({
  ...{ nsu: 1n, isCredit: true, amountCents: 1_000n, typeName: 'CREDIT_PIX' },
  ...{ occurredAt: at(0), endToEndId: 'E1' },
});

const ownOf = (change: Partial<OwnRefund>): OwnRefund => ({
  ...{ expectedPaymentId: 'r1', amountCents: 400n, references: [], isOver: false, matches: [] },
  ...change,
});

type Facts = RefundFacts<PixLine, OwnRefund>;
const factsOf = (change: Partial<Facts>): Facts => ({
  ...{ pix, lines: [], own: [], links: [] },
  ...change,
});
const sums = (change: Partial<Facts>) => {
  const refunds = refundsOfPix(factsOf(change));
  return {
    shown: netCentsOf(refunds.debits),
    total: refundedCentsOfPix(refunds),
    left: refundableCents(pix.amountCents, refunds),
  };
};

describe('what was refunded of a received Pix', () => {
  const named = lineOf({ originalEndToEndId: 'E1', endToEndId: 'D2' });
  const unnamed = lineOf({ endToEndId: 'D2', movementId: 'm2' });
  const byKey = [{ kind: 'movement_id' as const, value: 'm2' }];
  const link = { nsu: 2n, amountCents: 400n };

  it.each<[string, Partial<Facts>, bigint, bigint]>([
    ['nothing at first', {}, 0n, 0n],
    ['a debit that names it', { lines: [named] }, 400n, 400n],
    ['a debit under its own id', { lines: [lineOf({ endToEndId: 'E1' })] }, 400n, 400n],
    ['no debit that nothing ties to it', { lines: [unnamed] }, 0n, 0n],
    ['a debit that a person linked', { lines: [unnamed], links: [link] }, 400n, 400n],
    ['our refund without a line', { own: [ownOf({})] }, 0n, 400n],
    ['no refund that is over', { own: [ownOf({ isOver: true })] }, 0n, 0n],
    [
      'our refund once its ids name its line',
      { lines: [unnamed], own: [ownOf({ references: byKey })] },
      400n,
      400n,
    ],
    [
      'our refund once a match names its line',
      {
        lines: [unnamed],
        own: [ownOf({ matches: [{ nsu: 2n, amountCents: 400n, role: 'payment' }] })],
      },
      400n,
      400n,
    ],
    [
      'a line and our refund, while nothing ties them',
      { lines: [named], own: [ownOf({})] },
      400n,
      800n,
    ],
    [
      'a debit once, that names it, is ours and was linked',
      {
        lines: [{ ...named, movementId: 'm2' }],
        own: [ownOf({ references: byKey })],
        links: [link],
      },
      400n,
      400n,
    ],
    [
      'one of two refunds for a line under the id of the Pix',
      {
        lines: [lineOf({ endToEndId: 'E1' })],
        own: ['r1', 'r2'].map((expectedPaymentId) =>
          ownOf({ expectedPaymentId, references: [{ kind: 'end_to_end_id', value: 'E1' }] }),
        ),
      },
      400n,
      1_200n,
    ],
    [
      'nothing of a debit that names another Pix, but our refund',
      {
        lines: [
          lineOf({ originalEndToEndId: 'E9', movementId: 'm2' }),
          { ...pix, nsu: 9n, endToEndId: 'E9' },
        ],
        own: [ownOf({ references: byKey })],
      },
      0n,
      400n,
    ],
  ])('is %s', (_, change, shown, total) => expect(sums(change)).toMatchObject({ shown, total }));

  const reversal = lineOf({
    ...{ nsu: 3n, isCredit: true, typeName: 'CREDIT_PIX_REFUND_REVERSAL' },
    ...{ occurredAt: at(9), endToEndId: 'D2' },
  });
  it.each<[string, readonly PixLine[], bigint]>([
    ['a reversal with the id of the debit', [reversal], 0n],
    ['a reversal whose type does not say so', [{ ...reversal, typeName: 'CREDIT_PIX' }], 0n],
    [
      'a reversal that names the Pix alone',
      [{ ...reversal, endToEndId: 'R3', originalEndToEndId: 'E1' }],
      0n,
    ],
    ['part of it', [{ ...reversal, amountCents: 100n }], 300n],
    ['never more than the debit', [{ ...reversal, amountCents: 900n }], 0n],
    ['never more, with several reversals', [reversal, { ...reversal, nsu: 4n }], 0n],
  ])('is less %s', (_, credits, shown) =>
    expect(sums({ lines: [named, ...credits] })).toMatchObject({ shown }),
  );

  it('takes the other leg of a refund to this account itself for no reversal', () => {
    const sent = lineOf({ nsu: 7n, typeName: 'DEBIT_PIX', endToEndId: 'E1', occurredAt: at(-1) });
    const leg = { ...reversal, typeName: 'CREDIT_PIX_REFUND' };
    expect(sums({ lines: [sent, named, leg] })).toMatchObject({ shown: 400n });
  });

  it('leaves nothing to refund, and never less, where more was refunded than received', () =>
    expect(sums({ lines: [{ ...named, amountCents: 1_100n }] })).toMatchObject({ left: 0n }));

  const cents = fc.constantFrom(100n, 400n, 1_000n);
  const id = fc.constantFrom('E1', 'E9', 'D2', 'D3', null);
  const line = fc.record({
    isCredit: fc.boolean(),
    amountCents: cents,
    typeName: fc.constantFrom('DEBIT_PIX', 'DEBIT_PIX_REFUND', 'CREDIT_PIX', 'ESTORNO'),
    occurredAt: fc.integer({ min: 1, max: 5 }).map(at),
    endToEndId: id,
    originalEndToEndId: id,
    movementId: fc.constantFrom('m1', 'm2', null),
    idempotencyKey: fc.constant(null),
  });
  const own = fc.record({
    amountCents: cents,
    isOver: fc.boolean(),
    references: fc.array(
      fc.record({
        kind: fc.constantFrom('movement_id' as const, 'end_to_end_id' as const),
        value: fc.constantFrom('m1', 'm2', 'D2', 'E1'),
      }),
      { maxLength: 2 },
    ),
    matches: fc.array(
      fc.record({
        nsu: fc.bigInt({ min: 2n, max: 7n }),
        amountCents: cents,
        role: fc.constant('payment' as const),
      }),
      { maxLength: 1 },
    ),
  });
  const world = fc
    .record({
      lines: fc.array(line, { maxLength: 6 }),
      own: fc.array(own, { maxLength: 3 }),
      links: fc.uniqueArray(
        fc.record({ nsu: fc.bigInt({ min: 2n, max: 7n }), amountCents: cents }),
        {
          selector: ({ nsu }) => nsu,
          maxLength: 3,
        },
      ),
    })
    .map((made): Facts => {
      const matched = new Set<bigint>();
      return factsOf({
        lines: made.lines.map((one, index) => ({ ...one, nsu: BigInt(index + 2) })),
        own: made.own.map((one, index) => ({
          ...one,
          expectedPaymentId: `r${index}`,
          // A line has one match.
          matches: one.matches.filter(({ nsu }) => !matched.has(nsu) && matched.add(nsu)),
        })),
        links: made.links,
      });
    });
  const leftOf = (facts: Facts) => refundableCents(pix.amountCents, refundsOfPix(facts));

  it('is the same in any order of arrival', () =>
    fc.assert(
      fc.property(world, fc.infiniteStream(fc.nat()), (facts, keys) => {
        const shuffled = <Item>(items: readonly Item[]) =>
          items
            .map((item) => ({ item, key: keys.next().value as number }))
            .sort((a, b) => a.key - b.key)
            .map(({ item }) => item);
        const other = {
          ...facts,
          lines: shuffled(facts.lines),
          own: shuffled(facts.own),
          links: shuffled(facts.links),
        };
        expect(leftOf(other)).toBe(leftOf(facts));
        expect(netCentsOf(refundsOfPix(other).debits)).toBe(netCentsOf(refundsOfPix(facts).debits));
      }),
      { numRuns: 500 },
    ));

  it('is never negative and leaves never more than was received', () =>
    fc.assert(
      fc.property(world, (facts) => {
        const refunds = refundsOfPix(facts);
        expect(netCentsOf(refunds.debits) >= 0n).toBe(true);
        for (const { amountCents, reversedCents } of refunds.debits)
          expect(reversedCents >= 0n && reversedCents <= amountCents).toBe(true);
        const left = leftOf(facts);
        expect(left >= 0n && left <= pix.amountCents).toBe(true);
      }),
      { numRuns: 500 },
    ));

  it('never leaves more to refund because of a debit, a refund or a link that becomes known', () =>
    fc.assert(
      fc.property(world, line, own, (facts, debit, refund) => {
        const { lines } = facts;
        // It carries no id of a refund of ours, which would then have its line.
        const endToEndId = debit.endToEndId === 'D2' ? null : debit.endToEndId;
        const more = { ...debit, nsu: 50n, isCredit: false, movementId: null, endToEndId };
        const before = leftOf(facts);
        expect(leftOf({ ...facts, lines: [...lines, more] }) <= before).toBe(true);
        const requested = { ...refund, expectedPaymentId: 'z', references: [], matches: [] };
        expect(leftOf({ ...facts, own: [...facts.own, requested] }) <= before).toBe(true);
        const linked = { nsu: 50n, amountCents: more.amountCents };
        const unlinked = { ...facts, lines: [...lines, more] };
        expect(leftOf({ ...unlinked, links: [...facts.links, linked] }) <= leftOf(unlinked)).toBe(
          true,
        );
      }),
      { numRuns: 500 },
    ));
});
