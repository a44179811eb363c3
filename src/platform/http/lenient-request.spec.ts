import { describe, expect, it } from '@jest/globals';
import { chargeRequest } from '../../bank-contract/charges.js';
import { createTransferBatch } from '../../bank-contract/batch-transfers.js';
import { readLeniently } from './lenient-request.js';
import { transferRequest } from '../../bank-contract/transfers.js';
import { createWebhookRegistration } from '../../bank-contract/webhook-registrations.js';

describe('a request as a client of the bank writes it', () => {
  it.each([
    ['an empty text', transferRequest, { externalId: '', amount: 1 }, { amount: 1 }, 'emptyText'],
    ['a name in another case', chargeRequest, { amount: 1 }, { Amount: 1 }, 'nameCase'],
    ['a name of an item', createTransferBatch.body, [{ Amount: 1 }], [{ amount: 1 }], 'nameCase'],
    [
      'a scheme in another case',
      createWebhookRegistration.body,
      { authorizationScheme: 'bearer' },
      { authorizationScheme: 'BEARER' },
      'valueCase',
    ],
    [
      'a date-time whose date is meant',
      chargeRequest,
      { dueDate: '2030-12-01T23:59:59.000Z' },
      { dueDate: '2030-12-01' },
      'dateTime',
    ],
  ] as const)('has the contract’s form: %s', (_, schema, given, meant, departure) => {
    const { request, departures } = readLeniently(schema, given);
    expect([request, [...departures]]).toEqual([meant, [departure]]);
  });

  it.each([
    ['two names that differ in letter case alone', { amount: 1, Amount: 2 }],
    ['an empty text that is required', { correlationId: '' }],
    ['a field that the contract does not have', { note: '', Tags: [] }],
    ['what is no date-time', { dueDate: '2030-12-01 at noon' }],
  ])('stays as it is: %s', (_, given) => {
    const { request, departures } = readLeniently(chargeRequest, given);
    expect([request, departures.size]).toEqual([given, 0]);
  });
});
