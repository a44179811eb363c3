import { describe, expect, it } from '@jest/globals';
import { AxiosError } from 'axios';
import { unknownReasonOf } from './bank-connections.service.js';

const errorOf = (code: string, syscall?: string) =>
  Object.assign(new Error(code), { code, ...(syscall ? { syscall } : {}) });
const aggregate = (...errors: Error[]) =>
  Object.assign(new AggregateError(errors), { code: (errors[0] as NodeJS.ErrnoException).code });
const classify = (error: Error) => unknownReasonOf(AxiosError.from(error), false);

describe('a failed request', () => {
  it.each([
    ['the connection is refused', errorOf('ECONNREFUSED', 'connect')],
    ['the host name is unknown', errorOf('ENOTFOUND', 'getaddrinfo')],
    ['the network is unreachable', errorOf('ENETUNREACH', 'connect')],
    ['none of the addresses can be reached', aggregate(errorOf('EHOSTUNREACH', 'connect'))],
  ])('was certainly not sent when %s', (_, error) => {
    expect(classify(error)).toBe('not_sent');
  });

  it.each([
    ['the route is lost during the write', errorOf('EHOSTUNREACH', 'write')],
    ['the route is lost during the read', errorOf('ENETUNREACH', 'read')],
    ['the error names no system call', errorOf('EHOSTUNREACH')],
    [
      'one of the addresses was reached',
      aggregate(errorOf('EHOSTUNREACH', 'connect'), errorOf('EHOSTUNREACH', 'read')),
    ],
    ['the connection was reset', errorOf('ECONNRESET', 'read')],
  ])('may have been sent when %s', (_, error) => {
    expect(classify(error)).toBe('no_response');
  });
});
