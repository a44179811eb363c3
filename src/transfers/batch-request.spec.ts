import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BatchElement, BatchRequest } from '../contract/batch-transfers.js';
import {
  batchCounterparty,
  completeBatch,
  echoesBatch,
  repeatedExternalIds,
} from './batch-request.js';

const operationId = '01a1ffb0-e2c6-770f-88e0-d5bec3164c85';
const item = (changes: object = {}): BatchRequest[number] => ({
  amount: 10n,
  beneficiaryAccountNumber: '1000002',
  ...changes,
});

describe('completeBatch', () => {
  it('gives each item an externalId of its own, the same each time, and keeps the clients’', () => {
    const items = [item(), item({ externalId: 'a' }), item()];
    const completed = completeBatch(items, operationId);
    expect(completed).toEqual(completeBatch(completed, operationId));
    expect(completed[1]).toEqual(items[1]);
    expect(new Set(completed.map(({ externalId }) => externalId)).size).toBe(3);
    expect(repeatedExternalIds(completed)).toEqual({});
  });
});

describe('repeatedExternalIds', () => {
  it('names each item whose externalId an earlier one bears', () => {
    const ids = ['a', null, 'b', 'a', null, 'a'];
    const errors = repeatedExternalIds(ids.map((externalId) => item({ externalId })));
    expect(Object.keys(errors)).toEqual(['$[3].externalId', '$[5].externalId']);
  });
});

describe('batchCounterparty', () => {
  const items = fc.array(
    fc.record({ number: fc.integer({ min: 1, max: 99 }), amount: fc.bigInt({ min: 1n, max: 9n }) }),
    { minLength: 1, maxLength: 5 },
  );
  const written = (batch: { number: number; amount: bigint }[], externalId?: string) =>
    batchCounterparty(
      batch.map(({ number, amount }) =>
        item({ amount, externalId, beneficiaryAccountNumber: String(number) }),
      ),
    );

  it('is one for the same amounts to the same accounts, in any order and under any ids', () => {
    fc.assert(
      fc.property(items, (batch) => {
        expect(written([...batch].reverse(), 'x')).toBe(written(batch));
      }),
    );
  });

  it('is another where an amount, an account or their number differs', () => {
    fc.assert(
      fc.property(items, ([first, ...others]) => {
        const { number, amount } = first as { number: number; amount: bigint };
        const all = [{ number, amount }, ...others];
        expect(written([{ number, amount: amount + 1n }, ...others])).not.toBe(written(all));
        expect(written([{ number: number + 100, amount }, ...others])).not.toBe(written(all));
        expect(written([...all, { number, amount }])).not.toBe(written(all));
      }),
    );
  });
});

describe('echoesBatch', () => {
  const items = [item({ externalId: 'a' }), item({ externalId: 'b', amount: 20n })];
  const elements = (changes: object[]) =>
    changes.map((change, index) => ({ ...items[index], ...change })) as never as BatchElement[];

  it.each([
    ['each item in its place', [{}, {}], true],
    ['no externalIds', [{ externalId: null }, { externalId: undefined }], true],
    ['fewer items', [{}], false],
    ['more items', [{}, {}, {}], false],
    ['another amount', [{}, { amount: 10n }], false],
    ['items in another order', [{ externalId: 'b' }, { externalId: 'a' }], false],
  ])('an answer that tells %s', (_, changes, echoes) =>
    expect(echoesBatch(items, elements(changes))).toBe(echoes),
  );
});
