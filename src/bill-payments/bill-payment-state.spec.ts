import { describe, expect, it } from '@jest/globals';
import {
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
    expect(statusCheckPauseMs(1_000, true)).toBe(3_600_000);
    expect(statusCheckPauseMs(1, false)).toBe(3_600_000);
  });
});
