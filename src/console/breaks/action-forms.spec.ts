import { describe, expect, it } from '@jest/globals';
import type { Visit } from '../visit.js';
import { readAction } from './action-forms.js';

const refund = (amount: string) =>
  readAction({ form: new URLSearchParams({ amount }) } as Visit, 'refund', 'paid twice');

describe('the amount of a refund that a form asks for', () => {
  it.each([
    ['10', 1_000n],
    ['R$ 1.234,56', 123_456n],
    ['1.234', 123_400n],
  ])('%p is %p cents', (typed, amount) => {
    expect(refund(typed)).toEqual({ action: { action: 'refund', reason: 'paid twice', amount } });
  });

  it.each(['0', '0,00', '-1', '1,234', 'ten'])('%p is none', (typed) => {
    expect(refund(typed)).toEqual({ problem: 'breaks.invalid.amount' });
  });

  it('is all that is refundable where it is left empty', () => {
    expect(refund(' ')).toEqual({ action: { action: 'refund', reason: 'paid twice' } });
  });
});

describe('the parts of a link that a form asks for', () => {
  const split = (fields: Record<string, string>) =>
    readAction({ form: new URLSearchParams({ split: '1', ...fields }) } as Visit, 'link', 'agreed');

  it('name the received Pix that a debit refunds by their nsu', () => {
    const refundOf = [
      { nsu: 7n, amount: 1_000n },
      { nsu: 8n, amount: 50n },
    ];
    expect(split({ id0: '7', part0: '10', id1: '8', part1: '0,50' })).toEqual({
      action: { action: 'link', reason: 'agreed', refundOf },
    });
  });

  it('name either received Pix or expected payments', () => {
    const id1 = '0d4f3c1e-6f0b-4c57-9c0a-52b1a1b6e6d1';
    expect(split({ id0: '7', part0: '10', id1, part1: '5' })).toEqual({
      problem: 'breaks.invalid.candidate',
    });
  });
});
