import { describe, expect, it } from '@jest/globals';
import { FailureLimits, type FailureLimitSettings } from './failure-limits.js';

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** The responses to failures at times that the test sets. */
function failuresWith(limits: Partial<FailureLimitSettings> = {}) {
  const failures = new FailureLimits({ perSecond: 3, maxHeld: 2, maxAddresses: 100, ...limits });
  const fail = (address: string, count: number, atMs = 0) =>
    times(count).map(() => failures.admit(address, atMs));
  return { failures, fail };
}

describe('the failures of an address', () => {
  it('get their response at once up to the limit, are held then, and refused above that', () => {
    const { fail } = failuresWith();
    expect(fail('a', 7)).toEqual([
      ...['at_once', 'at_once', 'at_once'],
      ...['held', 'held', 'refused', 'refused'],
    ]);
  });

  it('get it at once again at the rate of the limit, and no more than a second’s worth', () => {
    const { fail } = failuresWith({ maxHeld: 0 });
    fail('a', 3);
    expect(fail('a', 2, 334)).toEqual(['at_once', 'refused']);
    expect(fail('a', 2, 668)).toEqual(['at_once', 'refused']);
    expect(fail('a', 4, 900_000)).toEqual(['at_once', 'at_once', 'at_once', 'refused']);
  });

  it('fill the limit while they are refused', () => {
    const { fail } = failuresWith({ maxHeld: 0 });
    fail('a', 3);
    const sent = times(1_000).flatMap((ms) => fail('a', 1, ms + 1));
    expect(sent.filter((response) => response === 'at_once')).toHaveLength(3);
  });

  it('delay no failure of another address that is below the limit', () => {
    const { fail } = failuresWith();
    fail('a', 100);
    expect(fail('b', 4)).toEqual(['at_once', 'at_once', 'at_once', 'refused']);
  });
});

describe('held responses', () => {
  it('leave their place to others when they are sent', () => {
    const { failures, fail } = failuresWith();
    fail('a', 5);
    expect(fail('a', 1)).toEqual(['refused']);
    failures.release();
    expect(fail('a', 2)).toEqual(['held', 'refused']);
  });

  it('are at most as many as allowed, of all addresses together', () => {
    const { fail } = failuresWith({ maxHeld: 10 });
    const responses = times(50).flatMap((index) => fail(`address ${index}`, 4));
    expect(responses.filter((response) => response === 'held')).toHaveLength(10);
  });
});

it('forgets the address that failed least recently when there are too many', () => {
  const { fail } = failuresWith({ maxHeld: 0, maxAddresses: 3 });
  for (const address of ['a', 'b', 'c']) fail(address, 3);
  fail('a', 1);
  // The fourth address takes the place of b.
  expect(fail('d', 1)).toEqual(['at_once']);
  expect([fail('a', 1), fail('c', 1)]).toEqual([['refused'], ['refused']]);
  expect(fail('b', 1)).toEqual(['at_once']);
});
