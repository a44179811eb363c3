import { expect, it } from '@jest/globals';
import { AddressSubjects } from './address-subjects.js';

it('names a bounded number of addresses a minute, however many there are', () => {
  const subjects = new AddressSubjects(3);
  const name = (nowMs: number) =>
    Array.from({ length: 10_000 }, (_, index) =>
      subjects.subjectOf(`2001:db8:${index}::/64`, nowMs),
    );
  const first = name(1_000);
  expect(new Set(first).size).toBe(3 + 256);
  expect(name(60_999)).toEqual(first);
  expect(subjects.subjectOf('203.0.113.1', 60_999)).toMatch(/^other [0-9a-f]{2}$/);
  expect(subjects.subjectOf('203.0.113.1', 61_000)).toBe('203.0.113.1');
});
