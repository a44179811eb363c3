import { describe, expect, it } from '@jest/globals';
import type { Visit } from '../requests.js';
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
