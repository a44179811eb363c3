import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LoggerOptions } from 'pino';
import { AppError } from './errors.js';
import type { Log } from './log.js';
import { newTraceId, runWithTrace } from './trace.js';

const written: string[] = [];
const { pino } = await import('pino');
// The log writes to stdout. Here pino writes to an array that the tests read.
jest.unstable_mockModule('pino', () => ({
  pino: Object.assign(
    (options: LoggerOptions) => pino(options, { write: (text: string) => void written.push(text) }),
    { stdTimeFunctions: pino.stdTimeFunctions },
  ),
}));
const { createLog, describeError, NestLog } = await import('./log.js');

/** The text that `work` writes to the log. */
function logged(work: (log: Log) => void): string {
  written.length = 0;
  work(createLog('trace', 'test'));
  return written.join('');
}

const canary = 'canary-5f1c';

/** An error as axios throws it, with the whole request in its fields. */
function requestError(): Error {
  const config = {
    url: `https://bank.example/?pixKey=${canary}`,
    headers: { 'x-service-api-key': canary, Authorization: canary },
    data: JSON.stringify({ payer: { document: canary } }),
  };
  return Object.assign(new Error('Request failed with status code 500'), {
    name: 'AxiosError',
    code: 'ERR_BAD_RESPONSE',
    config,
    request: { _header: canary },
    response: { status: 500, headers: { 'set-cookie': canary }, data: canary, config },
    toJSON: () => ({ message: 'x', config }),
  });
}

describe('an error that holds a whole request', () => {
  it.each<[string, (log: Log) => void]>([
    ['as err', (log) => log.warn({ err: requestError() }, 'no response')],
    ['as error', (log) => log.error({ error: requestError() }, 'no response')],
    ['by itself', (log) => log.error(requestError())],
    ['by itself, with a message', (log) => log.error(requestError(), 'no response')],
    ['as a cause', (log) => log.warn({ err: new Error('outer', { cause: requestError() }) })],
    [
      'as the cause of an AppError',
      (log) => log.warn({ err: new AppError('bank_unreachable', { cause: requestError() }) }),
    ],
    ['under another name', (log) => log.warn({ failure: requestError() }, 'no response')],
    ['as a reason', (log) => log.warn({ route: 'x', reason: requestError() })],
  ])('is logged %s without the request', (_, work) => {
    const text = logged(work);
    expect(text).not.toContain(canary);
    expect(text).not.toBe('');
  });

  it('is logged with its message, code, stack and causes', () => {
    const text = logged((log) => log.warn({ err: new Error('outer', { cause: requestError() }) }));
    expect(JSON.parse(text)).toMatchObject({
      err: {
        type: 'Error',
        message: 'outer',
        stack: expect.stringContaining('log.spec') as unknown,
        cause: {
          type: 'AxiosError',
          code: 'ERR_BAD_RESPONSE',
          message: 'Request failed with status code 500',
        },
      },
    });
  });

  it('is described without infinite recursion when errors cause each other', () => {
    const one = new Error('one');
    one.cause = new Error('two', { cause: one });
    expect(() => describeError(one)).not.toThrow();
  });
});

// Field names of the contract's requests, of the settings and of the tables.
const secretFields = [
  'x-service-api-key',
  'x-service-partner-key',
  'IdempotencyKey',
  'idempotencyKey',
  'authorization',
  'Authorization',
  'apiKey',
  'partnerKey',
  'credentialsKey',
  'otherCredentialsKeys',
  'secret',
  'webhookSecret',
  'password',
  'securityPassword',
  'codeVerification',
  'document',
  'email',
  'phone',
  'motherName',
  'birthDate',
  'pixKey',
  'payloadPix',
  'qrCode',
  'payer',
  'beneficiary',
  'finalBeneficiary',
  'body',
  'requestBody',
  'responseBody',
  'headers',
];

describe('a field with a secret or personal data', () => {
  it.each(secretFields)('with the name %s is redacted', (name) => {
    expect(logged((log) => log.info({ [name]: canary }))).not.toContain(canary);
  });

  it.each<[string, (field: object) => object]>([
    ['in an object', (field) => ({ request: field })],
    ['in an object of an object', (field) => ({ job: { data: field } })],
    ['in a list', (field) => ({ charges: [field] })],
    ['four levels deep', (field) => ({ a: { b: { c: field } } })],
    ['in a list four levels deep', (field) => ({ batch: { items: [{ to: field }] } })],
  ])('is redacted %s', (_, wrap) => {
    const text = logged((log) => log.info(wrap({ document: canary, password: canary })));
    expect(text).not.toContain(canary);
  });

  it('is redacted with all its nested fields', () => {
    const payer = { name: canary, address: { street: canary }, list: [canary] };
    const text = logged((log) => log.info({ payer, state: 'open' }));
    expect(text).not.toContain(canary);
    expect(JSON.parse(text)).toMatchObject({ payer: '[redacted]', state: 'open' });
  });
});

describe('a log line', () => {
  it('has the trace id of the current work, and none outside', () => {
    const traceId = newTraceId();
    const inside = logged((log) => runWithTrace(traceId, () => log.info('inside')));
    expect(JSON.parse(inside)).toMatchObject({ traceId, msg: 'inside', name: 'test' });
    expect(JSON.parse(logged((log) => log.info('outside')))).not.toHaveProperty('traceId');
  });

  it('is a single line, also when its message has line breaks', () => {
    const text = logged((log) => log.info({ notes: 'a\nb' }, 'forged\n{"level":60}'));
    expect(text.trimEnd().split('\n')).toHaveLength(1);
  });

  it('is not written below the level of the log', () => {
    written.length = 0;
    const log = createLog('warn', 'test');
    log.info('quiet');
    log.warn('loud');
    expect(written).toHaveLength(1);
  });
});

describe('Nest’s own messages', () => {
  it.each([
    ['log', 'debug', 20],
    ['debug', 'debug', 20],
    ['verbose', 'trace', 10],
    ['warn', 'warn', 40],
    ['error', 'error', 50],
    ['fatal', 'fatal', 60],
  ] as const)('by %s have level %s', (method, _, level) => {
    const text = logged((log) => new NestLog(log)[method]('message', 'Context'));
    expect(JSON.parse(text)).toMatchObject({ level, msg: 'message', context: 'Context' });
  });

  it('about an error do not contain its request', () => {
    expect(logged((log) => new NestLog(log).error(requestError(), 'Context'))).not.toContain(
      canary,
    );
  });
});

describe('a failure that repeats', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const lines = () =>
    written.map((text) => JSON.parse(text) as { msg: string; repeats?: number; job?: string });
  const lost = (port: number) =>
    Object.assign(new Error(`connect ECONNREFUSED 127.0.0.1:${port}`), { code: 'ECONNREFUSED' });

  it('is written once, and then as a count in each interval', () => {
    logged((log) => {
      for (let turn = 0; turn < 100; turn += 1)
        for (const job of ['send', 'sync']) log.warn({ err: lost(turn), job }, 'no queue');
      expect(lines()).toEqual([expect.objectContaining({ job: 'send', msg: 'no queue' })]);
      jest.advanceTimersByTime(10_000);
      expect(lines().slice(1)).toMatchObject([{ repeats: 199 }]);
      jest.advanceTimersByTime(30_000);
      expect(lines()).toHaveLength(2);
      log.warn({ err: lost(1), job: 'send' }, 'no queue');
      expect(lines()).toHaveLength(3);
    });
  });

  it('of another kind is written, and an error of a request always', () => {
    logged((log) => {
      for (const error of [lost(1), new Error('no access'), new Error('outer', { cause: lost(2) })])
        log.warn({ err: error }, 'no queue');
      for (const reason of ['closed', 'away']) log.warn({ reason }, 'no bank');
      log.info('the same');
      log.info('the same');
      runWithTrace(newTraceId(), () => log.error(lost(1)), '203.0.113.7');
      runWithTrace(newTraceId(), () => log.error(lost(1)), '203.0.113.7');
    });
    expect(written).toHaveLength(9);
  });
});
