import { describe, expect, it } from '@jest/globals';
import { pauseAfterMs, stateAfter, stateReportedBy } from './payment-life.js';

describe('the life of a bill payment', () => {
  it.each([
    ['PAID', null, 'paid'],
    ['SCHEDULED', null, 'scheduled'],
    ['A_NEW_WORD', null, 'scheduled'],
    ['A_NEW_WORD', 5n, 'paid'],
  ] as const)('takes %s with the nsu %s for %s', (status, transactionNsu, state) =>
    expect(stateReportedBy({ status, transactionNsu })).toBe(state),
  );

  it.each([
    ['requested', 'scheduled', 'scheduled'],
    ['requested', 'paid', 'paid'],
    ['scheduled', 'scheduled', 'scheduled'],
    ['scheduled', 'paid', 'paid'],
    ['paid', 'scheduled', 'paid'],
    ['failed', 'scheduled', 'failed'],
    ['failed', 'paid', 'paid'],
    ['rejected', 'scheduled', 'scheduled'],
    ['rejected', 'paid', 'paid'],
  ] as const)('goes from %s, told that it is %s, to %s', (from, told, to) =>
    expect(stateAfter(from, told)).toBe(to),
  );

  it('is looked at less and less often, each hour at least', () => {
    expect([1, 2, 3].map((checks) => pauseAfterMs(checks, true))).toEqual([5_000, 10_000, 20_000]);
    expect(pauseAfterMs(1_000, true)).toBe(3_600_000);
    expect(pauseAfterMs(1, false)).toBe(3_600_000);
  });
});
