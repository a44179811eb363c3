import { expect, it } from '@jest/globals';
import { HostLimits } from './host-limits.js';

it('gives a host no more places than its limit, whatever other hosts have', () => {
  const hosts = new HostLimits(25);
  expect([hosts.take('a', 10), hosts.take('a', 10), hosts.take('a', 10)]).toEqual([10, 10, 5]);
  expect([hosts.take('a', 10), hosts.take('b', 10)]).toEqual([0, 10]);
  hosts.free('a', 5);
  expect([hosts.take('a', 10), hosts.take('a', 1)]).toEqual([5, 0]);
});
