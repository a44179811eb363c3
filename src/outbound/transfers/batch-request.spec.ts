import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BatchElement, BatchRequest } from '../../bank-contract/batch-transfers.js';
import { batchCounterparty, completeBatch, matchesBatchRequest } from './batch-request.js';

const operationId = '01a1ffb0-e2c6-770f-88e0-d5bec3164c85';
const item = (changes: object = {}): BatchRequest[number] => ({
  amount: 10n,
  beneficiaryAccountNumber: '1000002',
  ...changes,
});

const installation = '3f0c2a7e-5d0b-4c55-9a52-0d1f3a1c9b10';

describe('completeBatch', () => {
  it('gives each item a stable externalId of its own, and leaves the client’s unchanged', () => {
    const items = [item(), item({ externalId: 'a' }), item()];
    const completed = completeBatch(items, operationId, installation);
    expect(completed).toEqual(completeBatch(completed, operationId, installation));
    expect(completed[1]).toEqual(items[1]);
    expect(new Set(completed.map(({ externalId }) => externalId)).size).toBe(3);
  });
});

describe('batchCounterparty', () => {
  const items = fc.array(
    fc.record({ number: fc.integer({ min: 1, max: 99 }), amount: fc.bigInt({ min: 1n, max: 9n }) }),
    { minLength: 1, maxLength: 5 },
  );
  const counterpartyFor = (batch: { number: number; amount: bigint }[], externalId?: string) =>
    batchCounterparty(
      batch.map(({ number, amount }) =>
        item({ amount, externalId, beneficiaryAccountNumber: String(number) }),
      ),
    );

  it('is the same for the same amounts to the same accounts, in any order and with any ids', () => {
    fc.assert(
      fc.property(items, (batch) => {
        expect(counterpartyFor([...batch].reverse(), 'x')).toBe(counterpartyFor(batch));
      }),
    );
  });

  it('differs when an amount, an account or the number of items differs', () => {
    fc.assert(
      fc.property(items, ([first, ...others]) => {
        const { number, amount } = first as { number: number; amount: bigint };
        const all = [{ number, amount }, ...others];
        expect(counterpartyFor([{ number, amount: amount + 1n }, ...others])).not.toBe(
          counterpartyFor(all),
        );
        expect(counterpartyFor([{ number: number + 100, amount }, ...others])).not.toBe(
          counterpartyFor(all),
        );
        expect(counterpartyFor([...all, { number, amount }])).not.toBe(counterpartyFor(all));
      }),
    );
  });
});

describe('matchesBatchRequest', () => {
  const items = [item({ externalId: 'a' }), item({ externalId: 'b', amount: 20n })];
  const elements = (changes: object[]) =>
    changes.map((change, index) => ({ ...items[index], ...change })) as never as BatchElement[];

  it.each([
    ['each item in order', [{}, {}], true],
    ['no externalIds', [{ externalId: null }, { externalId: undefined }], true],
    ['fewer items', [{}], false],
    ['more items', [{}, {}, {}], false],
    ['another amount', [{}, { amount: 10n }], false],
    ['items in another order', [{ externalId: 'b' }, { externalId: 'a' }], false],
  ])('for a response with %s', (_, changes, isMatch) =>
    expect(matchesBatchRequest(items, elements(changes))).toBe(isMatch),
  );
});
