import { describe, expect, it } from '@jest/globals';
import { counterpartyOf } from './line-counterparty.js';

const unknown = { name: null, taxId: null, ispb: null, branch: null, account: null };
const party = (name: string) => ({
  ...{ number: '0012345-6', branch: '0001', participant: { ispb: '00000001', name: 'Banco' } },
  holder: { name, document: '12345678909' },
});
const pix = { proof: { payer: party('Paga'), beneficiary: party('Recebe') } };
const of = (content: unknown, isCredit = true) =>
  counterpartyOf({ content: JSON.stringify(content), isCredit });

describe('the counterparty of a line', () => {
  it('is the payer of a credit and the beneficiary of a debit, as the bank writes them', () => {
    expect(of(pix)).toEqual({
      ...{ name: 'Paga', taxId: '12345678909' },
      ...{ ispb: '00000001', branch: '0001', account: '0012345-6' },
    });
    expect(of(pix, false)).toMatchObject({ name: 'Recebe' });
  });

  it('is the payer of a bank slip, who has no account there', () =>
    expect(of({ proof: { payer: { name: 'Sacado', document: '11222333000181' } } })).toEqual({
      ...unknown,
      ...{ name: 'Sacado', taxId: '11222333000181' },
    }));

  it.each([
    ['no proof', {}],
    ['a proof that is null', { proof: null }],
    ['a proof without parties', { proof: { id: 'x' } }],
    ['parties of another shape', { proof: { payer: ['x'] } }],
    ['names and numbers of another type', { proof: { payer: { name: 7, number: 1, branch: '' } } }],
    ['no object', []],
  ])('is unknown with %s', (_, content) => expect(of(content)).toEqual(unknown));

  it('is unknown once the line is erased', () =>
    expect(counterpartyOf({ content: '', isCredit: true })).toEqual(unknown));
});
