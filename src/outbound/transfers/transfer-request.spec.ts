import { describe, expect, it } from '@jest/globals';
import { buildEndToEndId } from '../../brazil/end-to-end-id.js';
import type { TransferRequest, TransferResponse } from '../../bank-contract/transfers.js';
import {
  completeTransfer,
  counterpartyOfTransfer,
  matchesTransferRequest,
  pixLookupExpiry,
} from './transfer-request.js';

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

const installation = '3f0c2a7e-5d0b-4c55-9a52-0d1f3a1c9b10';

describe('completeTransfer', () => {
  it('gives a transfer between accounts one externalId per operation, the same each time', () => {
    const { externalId } = completeTransfer(internal, operationId, installation);
    expect(externalId).toMatch(/^[0-9a-f-]{36}$/);
    expect(
      completeTransfer({ ...internal, externalId: null }, operationId, installation).externalId,
    ).toBe(externalId);
    const other = operationId.replace('01a1', '01a2');
    expect(completeTransfer(internal, other, installation).externalId).not.toBe(externalId);
  });

  it.each([
    ['a transfer with the client’s own externalId', { ...internal, externalId: 'invoice-7' }],
    ['a Pix by key', byKey],
    ['a Pix by account data', manual],
  ])('leaves %s unchanged', (_, request) =>
    expect(completeTransfer(request, operationId, installation)).toBe(request),
  );
});

describe('counterpartyOfTransfer', () => {
  const amount = { amountCents: 100n, description: null };
  const account = { beneficiaryAccount: '0001234-5', externalId: null };

  it('writes the account in its normal form', () => {
    expect(counterpartyOfTransfer({ ...amount, shape: 'internal', ...account })).toBe('12345');
    expect(counterpartyOfTransfer({ ...amount, shape: 'manual', beneficiary })).toBe(
      '123456/1/7654321',
    );
  });
});

describe('matchesTransferRequest', () => {
  const response = (changes: object = {}) =>
    ({
      amount: 100n,
      endToEndId: 'E1',
      externalId: 'x-1',
      beneficiary: { number: '12345' },
      ...changes,
    }) as TransferResponse;

  it.each<[string, TransferRequest, object, boolean]>([
    ['the requested endToEndId', byKey, {}, true],
    ['another amount', byKey, { amount: 101n }, false],
    ['another endToEndId', byKey, { endToEndId: 'E2' }, false],
    ['no endToEndId', byKey, { endToEndId: null }, false],
    ['the requested externalId', { ...internal, externalId: 'x-1' }, {}, true],
    ['another externalId', { ...internal, externalId: 'x-2' }, {}, false],
    ['no externalId', { ...internal, externalId: 'x-2' }, { externalId: null }, true],
    [
      'another account',
      { ...internal, externalId: 'x-1' },
      { beneficiary: { number: '9' } },
      false,
    ],
    ['the account in another spelling', manual, { beneficiary: { number: '7654321' } }, true],
    ['the account without its check digit', manual, { beneficiary: { number: '765432' } }, true],
    ['another account of a Pix', manual, { beneficiary: { number: '865432' } }, false],
  ])('for a response with %s', (_, request, changes, isMatch) =>
    expect(matchesTransferRequest(request, response(changes))).toBe(isMatch),
  );
});

describe('pixLookupExpiry', () => {
  const noon = new Date('2026-05-15T12:00:30Z');
  const idAt = (at: string) =>
    buildEndToEndId({ kind: 'E', ispb: '99999999', at: new Date(at), sequence: 'abcdefghijk' });

  it.each([
    ['the minute of the endToEndId', idAt('2026-05-15T12:00:00Z'), '2026-05-16T00:00:00.000Z'],
    ['the time of an older endToEndId', idAt('2026-05-15T11:00:00Z'), '2026-05-15T23:00:00.000Z'],
    [
      'the look-up when the endToEndId is later',
      idAt('2026-05-15T18:00:00Z'),
      '2026-05-16T00:00:30.000Z',
    ],
    ['the look-up when the endToEndId holds no time', 'opaque', '2026-05-16T00:00:30.000Z'],
  ])('is twelve hours after %s', (_, id, expected) =>
    expect(pixLookupExpiry(id, noon).toISOString()).toBe(expected),
  );
});
