import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { readRequest } from './row-request.js';

const amount = new LosslessNumber('10.5');
const internal = { amount, beneficiaryAccount: '1000002', externalId: 'row-1' };
const charge = {
  type: 'BANKSLIP',
  correlationId: 'order-1',
  dueDate: '2030-12-31',
  Amount: amount,
  payer: { name: 'Maria', document: '12345678909' },
};

describe('readRequest', () => {
  it('knows a charge by its correlationId', () => {
    expect(readRequest('charges', charge)).toEqual({ reference: 'order-1' });
  });

  it('tells what is wrong with a charge by its path, and which it is', () => {
    expect(readRequest('charges', { ...charge, dueDate: '2026-02-30' })).toEqual({
      reference: 'order-1',
      issues: { '$.dueDate': [expect.any(String)] },
    });
    expect(readRequest('charges', 'x')).toMatchObject({ reference: null });
  });

  it('knows a transfer by its externalId, or by its key', () => {
    expect(readRequest('transfers', internal)).toEqual({ reference: 'row-1' });
    const { externalId: _, ...bare } = internal;
    expect(readRequest('transfers', { ...bare, idempotencyKey: 'k-1' })).toEqual({
      reference: 'k-1',
    });
    expect(readRequest('transfers', bare)).toMatchObject({
      issues: { '$.externalId': [expect.any(String)] },
    });
  });

  it('takes a Pix key, which is looked up when its turn has come, and no look-up of before', () => {
    const byKey = { amount, key: 'a@b.example', externalId: 'row-2' };
    expect(readRequest('transfers', byKey)).toEqual({ reference: 'row-2' });
    expect(readRequest('transfers', { ...byKey, key: 'no key' })).toMatchObject({
      issues: { '$.key': [expect.any(String)] },
    });
    expect(readRequest('transfers', { ...byKey, amount: 'x' })).toMatchObject({
      issues: { '$.amount': [expect.any(String)] },
    });
    const looked = { amount, initiationType: 'KEY', endToEndId: 'E1', externalId: 'row-2' };
    expect(readRequest('transfers', looked)).toMatchObject({
      issues: { '$.endToEndId': [expect.any(String)] },
    });
  });
});
