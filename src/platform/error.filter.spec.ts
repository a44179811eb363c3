import { describe, expect, it, jest } from '@jest/globals';
import { HttpException, NotFoundException, type ArgumentsHost } from '@nestjs/common';
import { ErrorFilter } from './error.filter.js';
import { AppError } from './errors.js';
import type { Log } from './log.js';
import { runWithTrace } from './trace.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

interface Sent {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  logged: string[];
}

/** What a caller is sent for an error, and what is logged of it. */
function answerTo(error: unknown): Sent {
  const sent: Sent = { status: 0, headers: {}, body: {}, logged: [] };
  const reply = {
    status: (status: number) => Object.assign(reply, void (sent.status = status)),
    headers: (headers: Record<string, string>) =>
      Object.assign(reply, void (sent.headers = headers)),
    send: (text: string) => void (sent.body = JSON.parse(text) as Record<string, unknown>),
  };
  const note = (level: string) => jest.fn(() => void sent.logged.push(level));
  const log = { warn: note('warn'), error: note('error') } as unknown as Log;
  const host = { switchToHttp: () => ({ getResponse: () => reply }) } as unknown as ArgumentsHost;
  runWithTrace(traceId, () => new ErrorFilter(log).catch(error, host));
  return sent;
}

const rfc = (section: string) => `https://tools.ietf.org/html/rfc7231#section-${section}`;

it('answers a validation error with its paths and messages', () => {
  const errors = { '$.dueDate': ['Could not be read as a date, yyyy-mm-dd.'] };
  expect(answerTo(new AppError('validation_failed', { errors }))).toEqual({
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
    new AppError('idempotency_key_reused', { public: 'The same key came again.' }),
    422,
    { title: 'The same key came again.', code: 'idempotency_key_reused' },
  ],
])('answers %s in the contract’s body', (error, status, body) => {
  const answer = answerTo(error);
  expect(answer).toMatchObject({ status, body: { status, traceId, ...body }, logged: [] });
  expect(JSON.stringify(answer.body)).not.toContain('canary');
});

it('sends the headers of a fault along', () => {
  const fault = new AppError('rate_limited', { headers: { 'Retry-After': '1' } });
  expect(answerTo(fault)).toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
});

describe('what is ours', () => {
  it.each<[unknown]>([
    [new Error('canary')],
    [new TypeError('canary')],
    ['canary'],
    [null],
    [undefined],
    [{ message: 'canary', stack: 'canary' }],
    [{ statusCode: 'canary' }],
  ])('is answered with 500 and no word of %o, and logged', (error) => {
    const answer = answerTo(error);
    expect(answer).toMatchObject({
      status: 500,
      body: { type: rfc('6.6.1'), title: 'Internal Server Error', status: 500, traceId },
      logged: ['error'],
    });
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  it.each([
    ['bank_unreachable', 502],
    ['bank_timeout', 504],
  ] as const)('is logged as a warning when it is %s', (code, status) => {
    const answer = answerTo(new AppError(code, { internal: 'canary', cause: new Error('canary') }));
    expect(answer).toMatchObject({ status, logged: ['warn'] });
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  });

  it('is not logged where a process that starts says that it is not ready', () => {
    expect(answerTo(new AppError('not_ready'))).toMatchObject({ status: 503, logged: [] });
  });
});

it.each<[unknown, number, string]>([
  [new NotFoundException('canary'), 404, 'Not Found'],
  [new HttpException('canary', 415), 415, 'Unsupported Media Type'],
  [Object.assign(new Error('canary'), { statusCode: 413 }), 413, 'Payload Too Large'],
  [Object.assign(new Error('canary'), { statusCode: 400 }), 400, 'Bad Request'],
])(
  'answers the framework’s own refusal (%o) with its status and our words',
  (error, status, title) => {
    const answer = answerTo(error);
    expect(answer).toMatchObject({ status, body: { status, title, traceId }, logged: [] });
    expect(JSON.stringify(answer.body)).not.toContain('canary');
  },
);
