import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text.js';
import { maskCounterparty, maskValue } from './masking.js';
import { unknownCounterparty } from './resolution.js';

const masked = (fields: Partial<typeof unknownCounterparty>) =>
  maskCounterparty({ ...unknownCounterparty, ...fields });

describe('a masked counterparty', () => {
  it.each([
    ['Ana Souza', 'A*** S***'],
    ['  élcio   d’Ávila ', 'é*** d***'],
    ['Ana 12345678909', 'A*** ***'],
    ['12345678909', '***'],
    ['A B C D E F', 'A*** B*** C*** D***'],
    ['<script>', '***'],
    [' ', '***'],
    ['', '***'],
  ])('has the name %j as %j', (name, shown) => expect(masked({ name }).name).toBe(shown));

  it.each([
    ['12345678909', '***.456.789-**'],
    ['11222333000181', '**.222.333/****-**'],
    ['12ABC34501DE35', '**.ABC.345/****-**'],
    ['***.456.789-**', '***.456.789-**'],
    ['12*.456.789-09', '***.456.789-**'],
    ['1234567890', '***'],
    ['x', '***'],
    ['', '***'],
  ])('has the tax id %j as %j', (taxId, shown) => expect(masked({ taxId }).taxId).toBe(shown));

  it.each([
    ['0012345-6', '***56'],
    ['1234', '***34'],
    ['123', '***'],
    ['7', '***'],
    ['', '***'],
  ])('has the account %j as %j', (account, shown) =>
    expect(masked({ account }).account).toBe(shown),
  );

  it('has institution and branch, and no message', () =>
    expect(masked({ ispb: '00000001', branch: '0001-X', message: 'Para Ana' })).toMatchObject({
      ...{ ispb: '00000001', branch: '0001-X', message: null },
    }));

  it('has no text of a stranger where a number belongs', () =>
    expect(masked({ ispb: 'Ana Souza', branch: 'Ana' })).toMatchObject({
      ...{ ispb: null, branch: null },
    }));

  it('shows of any text no four characters in a row but digits of a tax id', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { taxId: _, ...shown } = masked({ name: text, account: text, message: text });
        for (const value of Object.values(shown))
          expect((value ?? '').split(/[* ]+/u).every((part) => [...part].length <= 2)).toBe(true);
      }),
    );
  });

  it('stays unknown', () => expect(masked({})).toEqual(unknownCounterparty));
});

it.each([
  ['60701190/0001/77665544', '60701190/0001/***44'],
  ['60701190/1/7', '60701190/1/***'],
  ['77665544', '***44'],
  ['Ana/Souza/77665544', '***/***/***44'],
  [
    '00190500954014481606906809350314337370000000100',
    '00190500954014481606906809350314337370000000100',
  ],
  ['nsu 1234', 'nsu 1234'],
  [`batch/${'0a'.repeat(32)}`, `batch/${'0a'.repeat(32)}`],
])('masks the account of the payee %s as %s', (payee, shown) => {
  expect(maskValue('payee', payee)).toBe(shown);
});
