import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { chargeFacts } from './charge-facts.js';

describe('the facts of a charge', () => {
  it('are those of the bank, in cents and days', () => {
    const createdAt = '2026-11-24T12:00:00.000Z';
    const charge = {
      amount: new LosslessNumber('1234.5'),
      dueDate: '2026-12-01T00:00:00',
      createdAt,
    };
    expect(chargeFacts(charge)).toEqual({
      amountCents: 123_450n,
      dueDate: '2026-12-01',
      createdAt: new Date(createdAt),
    });
  });

  it('are those of the request while the bank has not responded', () =>
    expect(chargeFacts({ amount: 5n })).toEqual({
      ...{ amountCents: 5n, dueDate: null, createdAt: null },
    }));

  it('are none where the bank wrote something else', () =>
    expect(chargeFacts({ amount: 'ten', dueDate: 'soon', createdAt: 'now' })).toEqual({
      ...{ amountCents: null, dueDate: null, createdAt: null },
    }));
});
