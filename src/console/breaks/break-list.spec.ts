import { describe, expect, it } from '@jest/globals';
import { plainAmount, readBreakList, readCents } from './break-list.js';

const read = (query: string) => readBreakList(new URLSearchParams(query));

describe('the filters of the list of breaks', () => {
  it('select open breaks unless the address names another state, or none', () => {
    expect(read('').filters).toEqual({ state: 'open' });
    expect(read('state=resolved').filters).toEqual({ state: 'resolved' });
    expect(read('state=').filters).toEqual({});
    expect(read('state=').address.toString()).toBe('state=');
  });

  it('read amounts as they are typed in Brazil', () => {
    const { filters, address } = read('minAmount=1.234,5&maxAmount=2000.00');
    expect(filters).toEqual({ state: 'open', minAmount: 123_450n, maxAmount: 200_000n });
    expect(address.get('minAmount')).toBe('1234.5');
  });

  it('leave out and name what is not valid', () => {
    const { filters, wrong } = read('minAmount=much&openedFrom=yesterday&kind=missing');
    expect(filters).toEqual({ state: 'open', kind: 'missing' });
    expect(wrong.sort()).toEqual(['minAmount', 'openedFrom']);
  });

  it('take nothing else from the address', () => {
    expect(read('limit=500&cursor=abc&other=1').address.toString()).toBe('state=open');
    expect(read('limit=500&cursor=abc').filters).toEqual({ state: 'open' });
  });
});

describe('an amount that is typed', () => {
  it.each([
    ['10', 1_000n],
    ['10,5', 1_050n],
    ['R$ 1.234,56', 123_456n],
    ['1234.56', 123_456n],
    ['0', null],
    ['-1', null],
    ['1,234', null],
    ['', null],
    ['ten', null],
  ])('%p is %p cents', (typed, cents) => {
    expect(readCents(typed)).toBe(cents);
  });

  it('may have dots between thousands', () => {
    expect(plainAmount('1.000.000,00')).toBe('1000000.00');
  });
});
