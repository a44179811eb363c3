import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallDeadline } from './outgoing-calls.js';

describe('the deadline of a call', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('aborts what listens to it, once its time is over', () => {
    const deadline = new CallDeadline(1_000);
    const [kept, removed] = [jest.fn(), jest.fn()];
    deadline.addEventListener('abort', kept);
    deadline.addEventListener('abort', removed);
    deadline.removeEventListener('abort', removed);
    jest.advanceTimersByTime(999);
    expect([deadline.aborted, kept.mock.calls.length]).toEqual([false, 0]);
    jest.advanceTimersByTime(1);
    expect([deadline.aborted, kept.mock.calls.length, removed.mock.calls.length]).toEqual([
      ...[true, 1, 0],
    ]);
  });

  it('leaves no timer once it is cleared', () => {
    const deadline = new CallDeadline(1_000);
    deadline.clear();
    expect(jest.getTimerCount()).toBe(0);
    jest.advanceTimersByTime(2_000);
    expect(deadline.aborted).toBe(false);
  });
});
