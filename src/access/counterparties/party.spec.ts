import { describe, expect, it } from '@jest/globals';
import { readParty, unknownParty } from './party.js';

describe('a party', () => {
  const pix = {
    ...{ number: '0012345-6', branch: '0001', participant: { ispb: '00000001', name: 'Banco' } },
    holder: { name: 'Paga', document: '123.456.789-09' },
  };

  it('is read from a Pix, with its tax id without punctuation', () =>
    expect(readParty(pix)).toEqual({
      ...{ name: 'Paga', taxId: '12345678909' },
      ...{ ispb: '00000001', branch: '0001', account: '0012345-6' },
    }));

  it('is read from a bank slip, whose payer has no account', () =>
    expect(readParty({ name: 'Sacado', document: '11222333000181' })).toEqual({
      ...unknownParty,
      ...{ name: 'Sacado', taxId: '11222333000181' },
    }));

  it('is read from the request of a transfer', () =>
    expect(readParty({ ...pix, participant: undefined, participantIspb: '60701190' }).ispb).toBe(
      '60701190',
    ));

  it.each([
    ['***.456.789-**', '***.456.789-**'],
    ['***456789**', '***.456.789-**'],
    ['**222333000***', '**.222.333/000*-**'],
    ['***', null],
    ['*'.repeat(12), null],
    ['12345678', null],
    ['x'.repeat(5_000), null],
    [12_345_678_909, null],
  ])('has the tax id %j as %j', (document, taxId) =>
    expect(readParty({ holder: { document } }).taxId).toBe(taxId),
  );

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a list', ['x']],
    ['fields of another type', { name: 7, number: 1, branch: '', holder: [] }],
  ])('is unknown in %s', (_, value) => expect(readParty(value)).toEqual(unknownParty));

  it('has only text that the database can store', () =>
    expect(readParty({ name: 'a\0b\ud800' }).name).toBe('ab\ufffd'));
});
