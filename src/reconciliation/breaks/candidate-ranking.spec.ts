import { describe, expect, it } from '@jest/globals';
import { idsIn, rankCandidates, type Similarity } from './candidate-ranking.js';

const like = (key: string, fields: Partial<Similarity> = {}): Similarity => ({
  key,
  amountCents: 1_000n,
  wantedCents: 1_000n,
  isSameDocument: false,
  isSameReference: false,
  days: ['2026-11-20', '2026-11-20'],
  ...fields,
});
const rank = (...found: Similarity[]) =>
  rankCandidates(found).map(({ found: { key }, score, reasons }) => [key, score, ...reasons]);

describe('rankCandidates', () => {
  it('lists candidates with their reasons, those that share an id first', () => {
    expect(
      rank(
        like('amount alone', { days: ['2026-11-20', '2026-01-01'] }),
        like('all', { isSameDocument: true, isSameReference: true }),
        like('document', {
          isSameDocument: true,
          amountCents: 5n,
          days: ['2026-11-20', '2026-11-15'],
        }),
        like('reference', { isSameReference: true, amountCents: 5n }),
      ),
    ).toEqual([
      ['all', 100, 'shared_reference', 'same_document', 'same_amount', 'same_day'],
      ['reference', 55, 'shared_reference', 'same_day'],
      ['amount alone', 25, 'same_amount'],
      ['document', 35, 'same_document', 'near_date'],
    ]);
  });

  it('orders by amount, then by date, then by document, and keeps who is known', () => {
    const near = (cents: bigint, day = '2026-11-20', isSameDocument = false) =>
      like(`${cents} ${day} ${isSameDocument}`, {
        ...{ amountCents: cents, wantedCents: 200_000n, isSameDocument },
        days: ['2026-11-20', day],
      });
    const keys = rank(
      ...Array.from({ length: 20 }, (_, index) => near(190_000n + BigInt(index))),
      near(201_000n),
      near(199_500n, '2026-11-10'),
      near(200_500n, '2026-11-19'),
      near(200_500n, '2026-11-19', true),
      near(1n, '2026-11-20', true),
    ).map(([key]) => key);
    expect(keys).toHaveLength(10);
    expect(keys.slice(0, 5)).toEqual([
      '200500 2026-11-19 true',
      '200500 2026-11-19 false',
      '199500 2026-11-10 false',
      '201000 2026-11-20 false',
      '190019 2026-11-20 false',
    ]);
    expect(keys.at(-1)).toBe('1 2026-11-20 true');
  });

  it('ignores a candidate that shares only the day or has no amount', () => {
    expect(rank(like('day', { amountCents: 5n }), like('any', { amountCents: null }))).toEqual([]);
  });

  it('counts an amount as near up to a tenth of the larger one', () => {
    expect(rank(like('near', { amountCents: 900n }), like('far', { amountCents: 899n }))).toEqual([
      ['near', 20, 'near_amount', 'same_day'],
    ]);
  });

  it('lists at most ten, and orders equally ranked candidates the same way each time', () => {
    const many = Array.from({ length: 30 }, (_, index) => like(String(index + 10)));
    const first = rank(...many);
    expect(first).toHaveLength(10);
    expect(rank(...many.toReversed())).toEqual(first);
  });
});

it('finds ids in notes: long words with a digit, each once', () => {
  expect(idsIn(['Pagto. pedido ABC-12345, NF 99; ABC-12345 obrigado', null, '123456'])).toEqual([
    'ABC-12345',
    '123456',
  ]);
});
