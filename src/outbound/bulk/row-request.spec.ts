import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { fieldError } from '../../bank-contract/field-errors.js';
import { readRowRequest, rowInForm } from './row-request.js';

const amount = new LosslessNumber('10.5');
const internal = { amount, beneficiaryAccount: '1000002', externalId: 'row-1' };
const charge = {
  type: 'BANKSLIP',
  correlationId: 'order-1',
  dueDate: '2030-12-31',
  Amount: amount,
  payer: { name: 'Maria', document: '12345678909' },
};

describe('readRowRequest', () => {
  it('identifies a charge by its correlationId', () => {
    expect(readRowRequest('charges', charge)).toMatchObject({
      ...{ reference: 'order-1', cents: 1050n, payee: 'Maria' },
    });
  });

  it('reports the issues of a charge by JSON path, with its correlationId', () => {
    expect(readRowRequest('charges', { ...charge, dueDate: '2026-02-30' })).toEqual({
      reference: 'order-1',
      issues: { '$.dueDate': [fieldError('date')] },
    });
    expect(readRowRequest('charges', 'x')).toMatchObject({ reference: null });
  });

  it('identifies a transfer by its externalId, or by its idempotencyKey', () => {
    expect(readRowRequest('transfers', internal)).toMatchObject({
      ...{ reference: 'row-1', cents: 1050n, payee: '1000002' },
    });
    const { externalId: _, ...withoutId } = internal;
    expect(readRowRequest('transfers', { ...withoutId, idempotencyKey: 'k-1' })).toMatchObject({
      reference: 'k-1',
    });
    expect(readRowRequest('transfers', withoutId)).toMatchObject({
      issues: { '$.externalId': [fieldError('row_without_id')] },
    });
  });

  it.each([
    ['charges', charge],
    ['transfers', internal],
    ['transfers', { amount, key: 'a@b.example', externalId: 'row-1' }],
  ] as const)(
    'takes the metadata of a row of %s, and reports what is wrong with it',
    (kind, row) => {
      expect(readRowRequest(kind, { ...row, metadata: { orderId: '1' } })).toHaveProperty(
        'reference',
      );
      expect(readRowRequest(kind, { ...row, metadata: { orderId: amount } })).toMatchObject({
        issues: { '$.metadata.orderId': [fieldError('string')] },
      });
    },
  );

  it('accepts a Pix key, and rejects the result of an earlier look-up', () => {
    const byKey = { amount, key: 'a@b.example', externalId: 'row-2' };
    expect(readRowRequest('transfers', byKey)).toMatchObject({
      ...{ reference: 'row-2', cents: 1050n, payee: 'a@b.example' },
    });
    expect(readRowRequest('transfers', { ...byKey, descricao: 'x' })).toMatchObject({
      issues: { '$.descricao': [expect.stringContaining('description')] },
    });
    expect(readRowRequest('transfers', { ...byKey, key: 'no key' })).toMatchObject({
      issues: { '$.key': [fieldError('pix_key')] },
    });
    expect(readRowRequest('transfers', { ...byKey, amount: 'x' })).toMatchObject({
      issues: { '$.amount': [fieldError('number')] },
    });
    const lookedUp = { amount, initiationType: 'KEY', endToEndId: 'E1', externalId: 'row-2' };
    expect(readRowRequest('transfers', lookedUp)).toMatchObject({
      issues: { '$.endToEndId': [expect.any(String)] },
    });
  });

  it('takes one spelling of a name in any letter case, as the routes of the bank do', () => {
    const { Amount, ...rest } = charge;
    expect(rowInForm('charges', { ...rest, amount: Amount })).toEqual(charge);
    const transfer = { AMOUNT: amount, BeneficiaryAccount: '1000002', externalID: 'row-1' };
    expect(rowInForm('transfers', transfer)).toEqual(internal);
    const byKey = { amount, Key: 'a@b.example', externalId: '' };
    expect(rowInForm('transfers', byKey)).toEqual({ amount, key: 'a@b.example' });
    expect(rowInForm('expected_payments', byKey)).toEqual(byKey);
  });
});
