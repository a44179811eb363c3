import { describe, expect, it } from '@jest/globals';
import {
  maxStatusChecks,
  nextBillPaymentState,
  stateOfBillPaymentResponse,
  statusCheckPauseMs,
} from './bill-payment-state.js';

describe('the state of a bill payment', () => {
  it.each([
    ['PAID', null, 'paid'],
    ['SCHEDULED', null, 'scheduled'],
    ['A_NEW_WORD', null, 'scheduled'],
    ['A_NEW_WORD', 5n, 'paid'],
  ] as const)('after a response %s with the nsu %s is %s', (status, transactionNsu, state) =>
    expect(stateOfBillPaymentResponse({ status, transactionNsu })).toBe(state),
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
  ] as const)('moves from %s, reported as %s, to %s', (current, reported, next) =>
    expect(nextBillPaymentState(current, reported)).toBe(next),
  );
});

describe('statusCheckPauseMs', () => {
  it('doubles with each check, up to one hour', () => {
    const pauses = [1, 2, 3].map((checks) => statusCheckPauseMs(checks, true));
    expect(pauses).toEqual([5_000, 10_000, 20_000]);
    expect(statusCheckPauseMs(39, true)).toBe(3_600_000);
    expect(statusCheckPauseMs(1, false)).toBe(3_600_000);
  });

  it.each([true, false])('is a day after more than a day of checks (provable: %s)', (provable) => {
    const pausesMs = Array.from({ length: maxStatusChecks }, (_, index) =>
      statusCheckPauseMs(index + 1, provable),
    );
    const totalMs = (some: number[]) => some.reduce((sum, ms) => sum + ms, 0);
    expect(totalMs(pausesMs.filter((ms) => ms < 86_400_000))).toBeGreaterThan(86_400_000);
    expect(pausesMs.slice(-31)).toEqual(Array.from({ length: 31 }, () => 86_400_000));
  });
});
