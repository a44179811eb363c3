import { describe, expect, it } from '@jest/globals';
import { readBreakList } from './break-list.js';

const read = (query: string) => readBreakList(new URLSearchParams(query));

const work = { state: 'open', snoozed: false, sort: 'severity' };

describe('the filters of the list of breaks', () => {
  it('select open breaks unless the address names another state, or none', () => {
    expect(read('').filters).toEqual(work);
    expect(read('snoozed=').filters).toEqual({ state: 'open', sort: 'severity' });
    expect(read('sort=age').filters).toEqual({ ...work, sort: 'age' });
    expect(read('nsu=7').filters).toEqual({ state: 'open', nsu: 7n });
    expect(read('state=resolved').filters).toEqual({ state: 'resolved' });
    expect(read('state=').filters).toEqual({});
    expect(read('state=').address.toString()).toBe('state=');
  });

  it('read amounts as they are typed in Brazil', () => {
    const { filters, address } = read('minAmount=1.234,5&maxAmount=R$ 2.000');
    const amounts = { minAmount: 123_450n, maxAmount: 200_000n };
    expect(filters).toEqual({ ...work, ...amounts });
    expect(address.get('minAmount')).toBe('1234.5');
    expect(address.get('maxAmount')).toBe('2000');
  });

  it('leave out and name what is not valid', () => {
    const { filters, wrong } = read('minAmount=much&openedFrom=yesterday&kind=missing');
    expect(filters).toEqual({ ...work, kind: 'missing' });
    expect(wrong.sort()).toEqual(['minAmount', 'openedFrom']);
  });

  it('take nothing else from the address', () => {
    expect(read('limit=500&cursor=abc&other=1').address.toString()).toBe('state=open');
    expect(read('limit=500&cursor=abc').filters).toEqual(work);
  });
});
