import { describe, expect, it } from '@jest/globals';
import { AxiosError } from 'axios';
import { reasonOf } from './bank-connections.service.js';

const failed = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code, ...(syscall ? { syscall } : {}) });
const several = (...errors: Error[]) =>
  Object.assign(new AggregateError(errors), { code: (errors[0] as NodeJS.ErrnoException).code });
const decide = (error: Error) => reasonOf(AxiosError.from(error), false);

describe('a request is known not to have left', () => {
  it.each([
    ['nobody listens', failed('ECONNREFUSED', 'connect')],
    ['the name is not known', failed('ENOTFOUND', 'getaddrinfo')],
    ['no way leads there', failed('ENETUNREACH', 'connect')],
    ['none of its addresses can be reached', several(failed('EHOSTUNREACH', 'connect'))],
  ])('when %s', (_, error) => {
    expect(decide(error)).toBe('not_sent');
  });

  it.each([
    ['the way is lost while it is written', failed('EHOSTUNREACH', 'write')],
    ['the way is lost while the answer is read', failed('ENETUNREACH', 'read')],
    ['nobody says at what it failed', failed('EHOSTUNREACH')],
    [
      'one of its addresses was reached',
      several(failed('EHOSTUNREACH', 'connect'), failed('EHOSTUNREACH', 'read')),
    ],
    ['the connection was reset', failed('ECONNRESET', 'read')],
  ])('but not when %s', (_, error) => {
    expect(decide(error)).toBe('no_answer');
  });
});
