import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  checkFees,
  expectedOfMonth,
  overchargeOf,
  pricesOn,
  type AgreedPrices,
  type AgreedTariff,
  type FeeFacts,
  type FeeLine,
  type ItemCount,
} from './fee-check.js';

const pix: AgreedTariff = {
  ...{ kind: 'pix_received', period: 'each', charged: 'same_period', priceCents: 50n },
  ...{ freeItems: 0, tiers: [], text: null },
};
const list = (tariffs: AgreedTariff[], validFrom = '2026-01-01', version = 1): AgreedPrices => ({
  ...{ version, validFrom, tariffs },
});
const fee = (nsu: number, day: string, cents: number, change: Partial<FeeLine> = {}): FeeLine => ({
  ...{ nsu: BigInt(nsu), day, amountCents: BigInt(cents), typeName: 'DEBIT_FEE', notes: null },
  ...{ itemNsu: null, itemKind: null, itemDay: null },
  ...change,
});
const received = (day: string, items: number, kind: ItemCount['kind'] = 'pix_received') => ({
  ...{ kind, day, items },
});
const check = (facts: Partial<FeeFacts>) =>
  checkFees({ lines: [], counts: [], lists: [list([pix])], today: '2026-12-31', ...facts });
const shown = (facts: Partial<FeeFacts>) =>
  check(facts).map(({ state, expectedCents }) => [
    state,
    expectedCents === null ? null : Number(expectedCents),
  ]);

describe('fees of each item', () => {
  it('take the price of an item of the day each, and what exceeds it was not agreed', () => {
    const counts = [received('2026-11-03', 2)];
    const lines = [fee(1, '2026-11-03', 50), fee(2, '2026-11-03', 60), fee(3, '2026-11-03', 50)];
    expect(shown({ counts, lines })).toEqual([
      ['explained', 50],
      ['mismatch', 0],
      ['explained', 50],
    ]);
  });

  it('are free up to the quota of the month, which begins again with the next', () => {
    const counts = [
      received('2026-11-29', 2),
      received('2026-11-30', 2),
      received('2026-12-01', 1),
    ];
    const lines = [fee(1, '2026-11-30', 50), fee(2, '2026-11-30', 50), fee(3, '2026-12-01', 50)];
    const lists = [list([{ ...pix, freeItems: 3 }])];
    expect(shown({ counts, lines, lists })).toEqual([
      ['explained', 50],
      ['mismatch', 0],
      ['mismatch', 0],
    ]);
    const exact = [list([{ ...pix, freeItems: 4 }])];
    expect(shown({ counts, lines: lines.slice(0, 1), lists: exact })).toEqual([['mismatch', 0]]);
  });

  it('follow the tiers by the number of the item in its month', () => {
    const tiers = [
      { from: 3, priceCents: 40n },
      { from: 5, priceCents: 30n },
    ];
    const counts = [received('2026-11-01', 3), received('2026-11-02', 2)];
    const lists = [list([{ ...pix, freeItems: 1, tiers }])];
    const lines = [40, 50].map((cents, index) => fee(index, '2026-11-01', cents));
    const later = [40, 40].map((cents, index) => fee(9 + index, '2026-11-02', cents));
    expect(shown({ counts, lists, lines: [...lines, ...later] })).toEqual([
      ['explained', 40],
      ['explained', 50],
      ['explained', 40],
      ['mismatch', 30],
    ]);
    const facts = { counts, lists, lines: [], today: '2026-12-31' };
    expect(expectedOfMonth(facts, '2026-11').get('pix_received')).toBe(160n);
  });

  it('are of the day of the item that they name; a second fee for it was not agreed', () => {
    const item = { itemNsu: 7n, itemKind: 'pix_received', itemDay: '2026-11-30' } as const;
    const counts = [received('2026-11-30', 2)];
    const lines = [fee(8, '2026-12-02', 50, item), fee(9, '2026-12-02', 50, item)];
    const checked = check({ counts, lines });
    expect(checked.map(({ period, state }) => [period, state])).toEqual([
      ['2026-11-30', 'explained'],
      ['2026-11-30', 'mismatch'],
    ]);
  });

  it('take the price of the list that was valid on the day', () => {
    const dearer = list([{ ...pix, priceCents: 70n }], '2026-11-16', 2);
    const corrected = list([{ ...pix, priceCents: 60n }], '2026-11-16', 3);
    const counts = [received('2026-11-15', 1), received('2026-11-16', 1)];
    const lines = [fee(1, '2026-11-15', 50), fee(2, '2026-11-16', 60)];
    const lists = [list([pix]), dearer];
    expect(shown({ counts, lines, lists })).toEqual([
      ['explained', 50],
      ['mismatch', 70],
    ]);
    expect(shown({ counts, lines, lists: [...lists, corrected] })).toEqual([
      ['explained', 50],
      ['explained', 60],
    ]);
  });
});

describe('sums of a day or month', () => {
  const monthly: AgreedTariff = { ...pix, period: 'month', charged: 'next_period' };

  it('of the month before are charged in the next one, also after a change of lists', () => {
    const counts = [received('2026-11-30', 3), received('2026-12-01', 5)];
    const lists = [list([monthly]), list([{ ...monthly, priceCents: 90n }], '2026-12-01', 2)];
    const [checked] = check({ counts, lists, lines: [fee(1, '2026-12-01', 160)] });
    expect(checked).toMatchObject({ period: '2026-11', state: 'mismatch', expectedCents: 150n });
    expect(checked && overchargeOf(checked)).toBe(10n);
    const sent = list([{ ...pix, kind: 'pix_sent', text: 'enviado' }], '2026-12-01', 2);
    const gone = [list([{ ...monthly, text: 'recebido' }]), sent];
    const lines = [fee(1, '2026-12-01', 150, { notes: 'Pix recebido em novembro' })];
    expect(shown({ counts, lists: gone, lines })).toEqual([['explained', 150]]);
  });

  it('come in parts, and once: what follows the whole sum was not agreed', () => {
    const counts = [received('2026-11-10', 4)];
    const lists = [list([monthly])];
    const charged = (...cents: number[]) =>
      shown({ counts, lists, lines: cents.map((one, at) => fee(at, '2026-12-01', one)) });
    expect(charged(120, 80)).toEqual([
      ['explained', 120],
      ['explained', 80],
    ]);
    expect(charged(200, 200)).toEqual([
      ['explained', 200],
      ['mismatch', 0],
    ]);
    expect(charged(150)).toEqual([['mismatch', 200]]);
  });

  it('of their own day or month wait for its end', () => {
    const lists = [list([{ ...pix, period: 'day' }])];
    const facts = { lists, counts: [received('2026-11-10', 2)], lines: [fee(1, '2026-11-10', 60)] };
    expect(shown({ ...facts, today: '2026-11-10' })).toEqual([['waiting', null]]);
    expect(shown({ ...facts, today: '2026-11-11' })).toEqual([['mismatch', 100]]);
  });

  it('of a package are one price a month', () => {
    const text = 'pacote';
    const lists = [
      list([pix, { ...pix, kind: 'package', period: 'month', priceCents: 2_990n, text }]),
    ];
    const notes = 'Tarifa PACOTE de serviços';
    const lines = [fee(1, '2026-11-05', 2_990, { notes }), fee(2, '2026-11-20', 2_990, { notes })];
    expect(shown({ lists, lines, today: '2026-11-05' })).toEqual([
      ['explained', 2_990],
      ['mismatch', 0],
    ]);
  });
});

describe('a fee', () => {
  it('is read by its text, then by the item that it names; another one was not agreed', () => {
    const sent: AgreedTariff = { ...pix, kind: 'pix_sent', priceCents: 100n };
    const slip: AgreedTariff = {
      ...pix,
      kind: 'slip_received',
      priceCents: 290n,
      text: 'liquidação',
    };
    const counts = [received('2026-11-03', 1), received('2026-11-03', 1, 'slip_received')];
    const item = { itemNsu: 7n, itemKind: 'pix_received', itemDay: '2026-11-03' } as const;
    const lines = [
      fee(1, '2026-11-03', 290, { notes: 'Tarifa LIQUIDACAO boleto' }),
      fee(2, '2026-11-03', 50, item),
      fee(3, '2026-11-03', 990),
      fee(4, '2026-11-03', 10, { ...item, itemNsu: 5n, itemKind: 'bill_paid' }),
    ];
    const kinds = check({ counts, lines, lists: [list([pix, sent, slip])] });
    expect(kinds.map(({ kind, state }) => [kind, state])).toEqual([
      ['slip_received', 'explained'],
      ['pix_received', 'explained'],
      [null, 'mismatch'],
      [null, 'mismatch'],
    ]);
  });

  it('is not checked of a time without a list, or with an empty one', () => {
    const lines = [fee(1, '2025-12-31', 50), fee(2, '2026-07-01', 50)];
    const lists = [list([pix]), list([], '2026-07-01', 2)];
    expect(shown({ lines, lists }).map(([state]) => state)).toEqual(['unpriced', 'unpriced']);
    expect(shown({ lines, lists: [] }).map(([state]) => state)).toEqual(['unpriced', 'unpriced']);
    expect(pricesOn(lists, '2026-06-30')?.version).toBe(1);
  });
});

it('never depends on the order of facts, and expects no more than the items cost', () => {
  const day = fc.integer({ min: 1, max: 3 }).map((number) => `2026-11-0${number}`);
  const facts = fc.record({
    lines: fc.array(fc.tuple(day, fc.integer({ min: 1, max: 60 })), { maxLength: 8 }),
    counts: fc.uniqueArray(fc.tuple(day, fc.integer({ min: 1, max: 4 })), {
      ...{ selector: ([date]: [string, number]) => date, maxLength: 3 },
    }),
    freeItems: fc.integer({ min: 0, max: 6 }),
    period: fc.constantFrom('each', 'day', 'month'),
  });
  fc.assert(
    fc.property(facts, ({ lines, counts, freeItems, period }) => {
      const all: FeeFacts = {
        lines: lines.map(([date, cents], nsu) => fee(nsu, date, cents)),
        counts: counts.map(([date, items]) => received(date, items)),
        lists: [list([{ ...pix, freeItems, period: period as AgreedTariff['period'] }])],
        today: '2026-12-31',
      };
      const result = checkFees(all);
      const reversed = { lines: all.lines.toReversed(), counts: all.counts.toReversed() };
      expect(checkFees({ ...all, ...reversed })).toEqual(result);
      const expected = expectedOfMonth(all, '2026-11').get('pix_received') ?? 0n;
      const shares = result.reduce((sum, one) => sum + (one.expectedCents ?? 0n), 0n);
      expect(shares <= expected).toBe(true);
    }),
  );
});
