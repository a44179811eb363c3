import { describe, expect, it } from '@jest/globals';
import type { TransferRequest, TransferResponse } from '../contract/transfers.js';
import { completeTransfer, counterpartyOf, echoesTransfer } from './transfer-request.js';

const operationId = '01a1ffb0-e2c6-770f-88e0-d5bec3164c85';
const internal: TransferRequest = { amount: 100n, beneficiaryAccount: '0001234-5' };
const byKey: TransferRequest = { amount: 100n, endToEndId: 'E1', initiationType: 'KEY' };
const beneficiary = {
  number: '0765432-1',
  branch: '0001',
  type: 'CURRENT' as const,
  participantIspb: '00123456',
  holder: { document: '52998224725', name: 'X', type: 'NATURAL' as const },
};
const manual: TransferRequest = { amount: 100n, beneficiary };

describe('completeTransfer', () => {
  it('gives a transfer between accounts the same externalId each time, and another to each operation', () => {
    const { externalId } = completeTransfer(internal, operationId);
    expect(externalId).toMatch(/^[0-9a-f-]{36}$/);
    expect(completeTransfer({ ...internal, externalId: null }, operationId).externalId).toBe(
      externalId,
    );
    const other = operationId.replace('01a1', '01a2');
    expect(completeTransfer(internal, other).externalId).not.toBe(externalId);
  });

  it.each([
    ['the client’s own', { ...internal, externalId: 'invoice-7' }],
    ['a Pix, which has none', byKey],
    ['a Pix by account data', manual],
  ])('leaves %s as it is', (_, request) =>
    expect(completeTransfer(request, operationId)).toBe(request),
  );
});

describe('counterpartyOf', () => {
  it('is one spelling of the account', () => {
    expect(counterpartyOf({ ...sum, shape: 'internal', ...account })).toBe('12345');
    expect(counterpartyOf({ ...sum, shape: 'manual', beneficiary })).toBe('123456/1/7654321');
  });
  const sum = { amountCents: 100n, description: null };
  const account = { beneficiaryAccount: '0001234-5', externalId: null };
});

describe('echoesTransfer', () => {
  const answer = (changes: object = {}) =>
    ({
      amount: 100n,
      endToEndId: 'E1',
      externalId: 'x-1',
      beneficiary: { number: '12345' },
      ...changes,
    }) as TransferResponse;

  it.each<[string, TransferRequest, object, boolean]>([
    ['what was asked', byKey, {}, true],
    ['another amount', byKey, { amount: 101n }, false],
    ['another endToEndId', byKey, { endToEndId: 'E2' }, false],
    ['no endToEndId', byKey, { endToEndId: null }, false],
    ['its externalId', { ...internal, externalId: 'x-1' }, {}, true],
    ['another externalId', { ...internal, externalId: 'x-2' }, {}, false],
    ['no externalId', { ...internal, externalId: 'x-2' }, { externalId: null }, true],
    [
      'another account',
      { ...internal, externalId: 'x-1' },
      { beneficiary: { number: '9' } },
      false,
    ],
    ['the account in another spelling', manual, { beneficiary: { number: '7654321' } }, true],
    ['the account without its digit', manual, { beneficiary: { number: '765432' } }, true],
    ['another account of a Pix', manual, { beneficiary: { number: '865432' } }, false],
  ])('an answer that tells %s', (_, request, changes, echoes) =>
    expect(echoesTransfer(request, answer(changes))).toBe(echoes),
  );
});
