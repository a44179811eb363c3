import { describe, expect, it, jest } from '@jest/globals';
import { HttpException, NotFoundException, type ArgumentsHost } from '@nestjs/common';
import { ErrorFilter } from './error.filter.js';
import { AppError } from '../errors.js';
import type { Log } from '../log.js';
import { runWithTrace } from '../trace.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

interface FilterResult {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  logged: string[];
}

/** Runs the filter on an error: the response that it sends, and the levels that it logs. */
function respondTo(error: unknown): FilterResult {
  const sent: FilterResult = { status: 0, headers: {}, body: {}, logged: [] };
  const reply = {
    status: (status: number) => Object.assign(reply, void (sent.status = status)),
    headers: (headers: Record<string, string>) =>
      Object.assign(reply, void (sent.headers = headers)),
    send: (text: string) => void (sent.body = JSON.parse(text) as Record<string, unknown>),
  };
  const record = (level: string) => jest.fn(() => void sent.logged.push(level));
  const log = { warn: record('warn'), error: record('error') } as unknown as Log;
  const host = { switchToHttp: () => ({ getResponse: () => reply }) } as unknown as ArgumentsHost;
  runWithTrace(traceId, () => new ErrorFilter(log).catch(error, host));
  return sent;
}

const rfc = (section: string) => `https://tools.ietf.org/html/rfc7231#section-${section}`;

it('responds to a validation error with its paths and messages', () => {
  const errors = { '$.dueDate': ['Could not be read as a date, yyyy-mm-dd.'] };
  expect(respondTo(new AppError('validation_failed', { errors }))).toEqual({
    status: 400,
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    body: {
      type: rfc('6.5.1'),
      title: 'One or more validation errors occurred.',
      status: 400,
      traceId,
      errors,
    },
    logged: [],
  });
});

it.each<[AppError, number, object]>([
  [new AppError('not_found'), 404, { title: 'Not Found' }],
  [new AppError('unauthenticated', { internal: 'canary' }), 401, { title: 'Unauthorized' }],
  [
    new AppError('conflict', { reason: 'correlation_id_taken' }),
    409,
    { code: 'correlation_id_taken' },
  ],
  [new AppError('conflict'), 409, { code: 'conflict' }],
  [
    new AppError('idempotency_key_reused', { public: 'The same key was sent again.' }),
    422,
    { title: 'The same key was sent again.', code: 'idempotency_key_reused' },
  ],
])('responds to %s with the contract’s error body', (error, status, body) => {
  const response = respondTo(error);
  expect(response).toMatchObject({ status, body: { status, traceId, ...body }, logged: [] });
  expect(JSON.stringify(response.body)).not.toContain('canary');
});

it('sends the headers of an AppError', () => {
  const fault = new AppError('rate_limited', { headers: { 'Retry-After': '1' } });
  expect(respondTo(fault)).toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
});

describe('an error of the server', () => {
  it.each<[unknown]>([
    [new Error('canary')],
    [new TypeError('canary')],
    ['canary'],
    [null],
    [undefined],
    [{ message: 'canary', stack: 'canary' }],
    [{ statusCode: 'canary' }],
  ])('gets 500 without the text of %o, and is logged', (error) => {
    const response = respondTo(error);
    expect(response).toMatchObject({
      status: 500,
      body: { type: rfc('6.6.1'), title: 'Internal Server Error', status: 500, traceId },
      logged: ['error'],
    });
    expect(JSON.stringify(response.body)).not.toContain('canary');
  });

  it.each([
    ['bank_unreachable', 502],
    ['bank_timeout', 504],
  ] as const)('is logged as a warning when it is %s', (code, status) => {
    const response = respondTo(
      new AppError(code, { internal: 'canary', cause: new Error('canary') }),
    );
    expect(response).toMatchObject({ status, logged: ['warn'] });
    expect(JSON.stringify(response.body)).not.toContain('canary');
  });

  it('is not logged when the process is not ready', () => {
    expect(respondTo(new AppError('not_ready'))).toMatchObject({ status: 503, logged: [] });
  });
});

it.each<[unknown, number, string]>([
  [new NotFoundException('canary'), 404, 'Not Found'],
  [new HttpException('canary', 415), 415, 'Unsupported Media Type'],
  [Object.assign(new Error('canary'), { statusCode: 413 }), 413, 'Payload Too Large'],
  [Object.assign(new Error('canary'), { statusCode: 400 }), 400, 'Bad Request'],
])(
  'responds to an error of the framework (%o) with its status and the contract’s error body',
  (error, status, title) => {
    const response = respondTo(error);
    expect(response).toMatchObject({ status, body: { status, title, traceId }, logged: [] });
    expect(JSON.stringify(response.body)).not.toContain('canary');
  },
);
