import { describe, expect, it } from '@jest/globals';
import type { Candidate, LineFacts, LineOutcome } from './line-outcome.js';
import { decide as decideAll } from './match.js';

const decide = (lines: LineFacts[], referenced: Map<bigint, Candidate[]>, goLive: Date) =>
  decideAll(lines, { referenced, openDebits: new Map() }, goLive);

const goLiveAt = new Date('2026-01-01T00:00:00Z');
const line = (nsu: bigint, change: Partial<LineFacts> = {}): LineFacts => ({
  nsu,
  isCredit: true,
  amountCents: 1_000n,
  typeName: 'CREDIT_PIX',
  endToEndId: null,
  originalEndToEndId: null,
  isFresh: false,
  occurredAt: new Date('2026-01-02T00:00:00Z'),
  ...change,
});
const candidate = (expectedPaymentId: string, change: Partial<Candidate> = {}): Candidate => ({
  expectedPaymentId,
  operationId: `operation of ${expectedPaymentId}`,
  kind: 'create_charge',
  operationState: 'succeeded',
  isOriginal: false,
  isCredit: true,
  amountCents: 1_000n,
  paidCents: 0n,
  reversedCents: 0n,
  isMultiUse: false,
  dueDate: null,
  terms: null,
  isWithdrawn: false,
  referenceKind: 'correlation_id',
  referenceValue: `of ${expectedPaymentId}`,
  ...change,
});
const one = (decided: LineFacts, ...candidates: Candidate[]): LineOutcome | undefined =>
  decide([decided], new Map([[decided.nsu, candidates]]), goLiveAt)[0];

describe('a line', () => {
  it.each<[string, Partial<Candidate>, string]>([
    ['the exact amount', {}, 'settled'],
    ['less', { amountCents: 1_001n }, 'partially_settled'],
    ['more', { amountCents: 999n }, 'overpaid'],
    ['the remaining amount', { amountCents: 1_500n, paidCents: 500n }, 'settled'],
    [
      'a part of the remaining amount',
      { amountCents: 1_500n, paidCents: 499n },
      'partially_settled',
    ],
    ['a second time', { paidCents: 1_000n }, 'overpaid'],
    ['a QR code a second time', { paidCents: 1_000n, isMultiUse: true }, 'settled'],
    ['an amount that the payer chose', { amountCents: null }, 'settled'],
  ])('that pays %s is matched with the right settlement', (_, change, settlement) => {
    expect(one(line(1n), candidate('a', change))).toEqual({
      outcome: 'matched',
      nsu: 1n,
      expectedPaymentId: 'a',
      operation: {
        operationId: 'operation of a',
        kind: 'create_charge',
        operationState: 'succeeded',
      },
      amountCents: 1_000n,
      role: 'payment',
      rule: 'reference',
      evidence: { referenceKind: 'correlation_id', referenceValue: 'of a' },
      owedCents: change.amountCents === undefined ? 1_000n : change.amountCents,
      settlement,
      displaces: false,
      wasWithdrawn: false,
      declared: null,
    });
  });

  it('with two references to one expected payment is matched once', () => {
    const byPix = candidate('a', { referenceKind: 'end_to_end_id', referenceValue: 'E1' });
    expect(one(line(1n), byPix, candidate('a'))).toMatchObject({
      outcome: 'matched',
      evidence: { referenceKind: 'end_to_end_id', referenceValue: 'E1' },
    });
  });

  it('that references two expected payments is an ambiguous break, in any order', () => {
    const [a, b] = [candidate('a'), candidate('b', { amountCents: 77n })];
    for (const candidates of [
      [a, b],
      [b, a],
    ])
      expect(one(line(1n), ...candidates)).toEqual({
        outcome: 'break',
        nsu: 1n,
        kind: 'ambiguous',
        amountCents: 1_000n,
        expectedPaymentId: null,
        candidates: candidates.map(({ referenceKind, referenceValue }) => ({
          referenceKind,
          referenceValue,
        })),
      });
  });

  it.each<[string, Candidate[]]>([
    ['has no reference', []],
    ['has the other direction', [candidate('a', { isCredit: false })]],
    ['references a rejected payment', [candidate('a', { isWithdrawn: true })]],
  ])('that %s is an unexpected break with the evidence', (_, candidates) => {
    expect(one(line(1n), ...candidates)).toMatchObject({
      outcome: 'break',
      kind: 'unexpected',
      candidates: candidates.map(({ referenceValue }) => ({ referenceValue })),
    });
  });

  it('is not ambiguous beside a rejected candidate or one of the other direction', () => {
    const others = [
      candidate('b', { isWithdrawn: true }),
      candidate('c', { isCredit: false }),
      candidate('a'),
    ];
    expect(one(line(1n), ...others)).toMatchObject({ outcome: 'matched', expectedPaymentId: 'a' });
  });

  it.each<[string, Candidate[]]>([
    ['has no reference', []],
    ['references two expected payments', [candidate('a'), candidate('b')]],
    ['references a rejected payment', [candidate('a', { isWithdrawn: true })]],
  ])('from before go-live that %s is classified as before_go_live', (_, candidates) => {
    const before = line(1n, { occurredAt: new Date(goLiveAt.getTime() - 1) });
    expect(one(before, ...candidates)).toMatchObject({
      outcome: 'classified',
      category: 'before_go_live',
      nsu: 1n,
      rule: 'before_go_live',
    });
    expect(one(line(1n, { occurredAt: goLiveAt }), ...candidates)?.outcome).toBe('break');
  });

  it('from before go-live is still matched by reference', () => {
    const before = line(1n, { occurredAt: new Date(goLiveAt.getTime() - 1) });
    expect(one(before, candidate('a'))).toMatchObject({ outcome: 'matched' });
  });
});

describe('lines of one batch', () => {
  const at = (nsu: bigint, second: number, amountCents = 1_000n) =>
    line(nsu, { amountCents, occurredAt: new Date(goLiveAt.getTime() + second * 1_000) });

  it('settle an expected payment in the order of their times, not of their arrival', () => {
    const [late, early] = [at(1n, 9), at(2n, 3)];
    const candidates = new Map([late, early].map(({ nsu }) => [nsu, [candidate('a')]]));
    expect(decide([late, early], candidates, goLiveAt)).toMatchObject([
      { nsu: 2n, settlement: 'settled' },
      { nsu: 1n, settlement: 'overpaid' },
    ]);
  });

  it('of one instant are ordered by nsu', () => {
    const candidates = new Map([10n, 9n].map((nsu) => [nsu, [candidate('a')]]));
    const outcomes = decide([at(10n, 1), at(9n, 1)], candidates, goLiveAt);
    expect(outcomes.map(({ nsu }) => nsu)).toEqual([9n, 10n]);
  });

  it('pay nothing when they end in a break', () => {
    const contrary = { ...at(1n, 1), isCredit: false };
    const candidates = new Map([1n, 2n].map((nsu) => [nsu, [candidate('a')]]));
    expect(decide([contrary, at(2n, 2)], candidates, goLiveAt)).toMatchObject([
      { nsu: 1n, outcome: 'break' },
      { nsu: 2n, settlement: 'settled' },
    ]);
  });
});

it('does not match a reversal to a payment that a person unlinked from it', () => {
  const debit = line(1n, { isCredit: false, typeName: 'DEBIT_PIX', endToEndId: 'E' });
  const reversal = line(2n, { typeName: 'CREDIT_PIX_REVERSAL', originalEndToEndId: 'E' });
  const referenced = new Map([[1n, [candidate('a', { isCredit: false })]]]);
  const decided = (unlinked: string[]) =>
    decideAll(
      [debit, reversal],
      { referenced, openDebits: new Map(), unlinked: new Map([[2n, new Set(unlinked)]]) },
      goLiveAt,
    )[1];
  expect(decided([])).toMatchObject({ outcome: 'matched', role: 'reversal' });
  expect(decided(['a'])).toMatchObject({ outcome: 'break', kind: 'unexpected' });
});
