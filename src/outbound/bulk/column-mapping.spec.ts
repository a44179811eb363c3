import { describe, expect, it } from '@jest/globals';
import { LosslessNumber } from 'lossless-json';
import { fieldError } from '../../bank-contract/field-errors.js';
import {
  ispbOf,
  mappedRequest,
  mappingErrors,
  missingFields,
  namedErrors,
} from './column-mapping.js';
import { readRowRequest } from './row-request.js';

const account = { bank: '341', branch: '1', account: '12345', accountDigit: '6' };
const payee = { name: 'ACME', taxId: '11.222.333/0001-81' };

describe('a row of a foreign table', () => {
  it('is a transfer by its key, held to be of the tax id', () => {
    const values = { amount: '10.50', key: 'maria@x.example', ...payee, ...account };
    expect(mappedRequest('transfers', values, 'row-1')).toEqual({
      request: {
        ...{ externalId: 'row-1', amount: '10.50', key: 'maria@x.example' },
        holderDocument: payee.taxId,
      },
    });
  });

  it('is a transfer to its account without a key, with the number of the bank as ISPB', () => {
    const row = mappedRequest(
      'transfers',
      { amount: '10.50', id: 'nf-1', ...payee, ...account },
      '',
    );
    expect(row).toEqual({
      request: {
        ...{ externalId: 'nf-1', amount: '10.50' },
        beneficiary: {
          ...{ number: '12345-6', branch: '0001', type: 'CURRENT', participantIspb: '60701190' },
          holder: { name: 'ACME', document: payee.taxId, type: 'LEGAL' },
        },
      },
    });
  });

  it.each([
    [{ bank: 'Itaú' }, 'bank_of_row'],
    [{ accountType: 'investimento' }, 'account_type_of_row'],
  ] as const)('with %j is refused', (part, reason) => {
    const values = { amount: '1', ...payee, ...account, ...part };
    expect(mappedRequest('transfers', values, '')).toEqual({ problem: fieldError(reason) });
  });

  it('without a key and an account is refused', () =>
    expect(mappedRequest('transfers', { amount: '1', ...payee }, '')).toEqual({
      problem: fieldError('payee_of_row'),
    }));

  it('has the errors of its request by its columns', () => {
    const columns = [{ field: 'taxId', label: 'CPF/CNPJ' }, null, { field: 'amount', label: 'R$' }];
    const errors = {
      '$.beneficiary.holder.document': ['a'],
      ...{ '$.beneficiary.holder.type': ['b'], '$.Amount': ['c'], '$.beneficiary.branch': ['d'] },
    };
    expect(namedErrors(errors, columns)).toEqual({
      ...{ '$.CPF/CNPJ': ['a'], '$.R$': ['c'], '$.beneficiary.branch': ['d'] },
    });
  });

  it.each([
    ['payables', 'expected_payments'],
    ['receivables', 'expected_payments'],
    ['charges', 'charges'],
  ] as const)('of %s is a request that the API takes', (target, kind) => {
    const values = { amount: new LosslessNumber('10'), date: '2030-01-01', ...payee };
    const row = mappedRequest(target, values, 'row-1');
    const read = readRowRequest(kind, 'request' in row ? row.request : null);
    expect(read).toMatchObject({ reference: 'row-1', cents: 1000n, payee: 'ACME' });
  });

  it.each([
    ['341', '60701190'],
    ['1', '00000000'],
    ['341 - Itaú', '60701190'],
    ['00416968', '00416968'],
    ['416968', '00416968'],
    ['999', null],
    ['Itaú', null],
    ['BRADESCO', null],
    ['', null],
  ])('has the bank %p as %p', (text, ispb) => expect(ispbOf(text)).toBe(ispb));
});

describe('a mapping', () => {
  it.each([
    ['transfers', ['amount', 'key'], []],
    ['transfers', ['key', null], ['amount']],
    ['transfers', ['name', 'taxId', 'bank', 'branch', 'account', 'amount'], []],
    ['transfers', ['name', 'bank', 'branch', 'account', 'amount'], ['key']],
    ['payables', ['amount'], ['date']],
    ['charges', [], ['amount', 'date', 'name', 'taxId']],
  ] as const)('of %s by %j lacks %j', (target, fields, missing) => {
    expect(missingFields(target, fields)).toEqual(missing);
    expect(Object.keys(mappingErrors({ target, fields }))).toEqual(missing.length > 0 ? ['$'] : []);
  });

  it('names the column that is a field twice, or one that its rows do not have', () => {
    const fields = ['amount', 'key', 'amount', 'date'] as const;
    expect(mappingErrors({ target: 'transfers', fields })).toEqual({
      '$.column2': [fieldError('column_twice')],
      '$.column3': [fieldError('column_not_of_kind')],
    });
  });
});
