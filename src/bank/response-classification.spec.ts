import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeDueDate, createCharge, type ChargeResponse } from '../bank-contract/charges.js';
import { readStatementPage } from '../bank-contract/statement.js';
import { classifyResponse, type BankResponse } from './response-classification.js';

const slip = {
  type: 'BANKSLIP',
  amount: 10.5,
  ourNumber: '1',
  correlationId: 'order-1',
  dueDate: '2030-12-31',
  barCode: '0',
  digitableLine: '0',
  payer: {},
  status: 'Pending',
  createdAt: '2026-01-01T00:00:00Z',
  updatedAt: '2026-01-01T00:00:00Z',
};
const slipJson = JSON.stringify(slip);
const date = new Date('2026-01-01T12:00:00Z');
const echoesOrder = ({ correlationId, amount }: ChargeResponse) =>
  correlationId === 'order-1' && amount === 1050n;

function classify(status: number, body: string | Buffer): BankResponse<ChargeResponse> {
  return classifyResponse(createCharge, { status, body: Buffer.from(body), date }, echoesOrder);
}

describe('a response of the bank', () => {
  it.each([200, 201, 202, 299])(
    'with %i is a success when it validates and echoes the request',
    (status) => {
      expect(classify(status, slipJson)).toMatchObject({
        outcome: 'success',
        status,
        text: slipJson,
        value: { correlationId: 'order-1', amount: 1050n },
        date,
      });
    },
  );

  it.each([
    ['another amount', { ...slip, amount: 10.51 }],
    ['the id of another order', { ...slip, correlationId: 'order-2' }],
    ['no amount', { ...slip, amount: undefined }],
    ['an amount as text', { ...slip, amount: '10.5' }],
    ['an amount with three decimals', { ...slip, amount: 10.505 }],
    ['no correlationId', { ...slip, correlationId: undefined }],
    ['no fields', {}],
    ['a list', [slip]],
    ['null', null],
    ['an error body', { title: 'Bad Request', status: 400 }],
  ])('with 200 and %s is unknown, not failed', (_, body) => {
    const text = JSON.stringify(body);
    expect(classify(200, text)).toEqual({
      outcome: 'unknown',
      reason: 'unexpected_response',
      status: 200,
      text,
    });
  });

  it.each([
    ['a truncated body', slipJson.slice(0, -1)],
    ['HTML', '<!doctype html><html><body>200 OK</body></html>'],
    ['no body', ''],
    ['white space', ' \n '],
    ['bytes that are not text', Buffer.from([0xff, 0xfe, 0x00])],
    ['two documents', `${slipJson}${slipJson}`],
    ['JSON nested too deeply', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('with %s is unreadable, with a success status and with a rejection status', (_, body) => {
    for (const status of [200, 204, 400, 422])
      expect(classify(status, body)).toEqual({
        outcome: 'unknown',
        reason: 'unreadable_response',
        status,
      });
  });

  it.each([300, 301, 302, 303, 304, 307, 308])('with %i is a redirect and unknown', (s) => {
    expect(classify(s, slipJson)).toMatchObject({
      outcome: 'unknown',
      reason: 'redirected',
      status: s,
    });
  });

  it.each([
    '{"type":"x","title":"t","status":400,"traceId":"a","errors":{"$.dueDate":["m"]}}',
    '{"title":"t","status":422,"code":"START_PAYMENT_NOT_FOUND","errors":["m"]}',
    '{"title":"Not Found","status":404}',
    '{}',
  ])('with 400, 404, 410, 422 or 499 and %s is a rejection', (text) => {
    for (const status of [400, 404, 410, 422, 499])
      expect(classify(status, text)).toEqual({ outcome: 'rejection', status, text });
  });

  it.each(['null', '"no"', '404', 'false', '["no"]', 'Bad Request'])(
    'with 400 and %s is unknown',
    (body) => {
      expect(classify(400, body)).toMatchObject({
        outcome: 'unknown',
        reason: 'unreadable_response',
      });
    },
  );

  it.each([401, 403, 408, 409, 425, 429])('with %i does not decide the request', (status) => {
    expect(classify(status, '{"title":"no"}')).toMatchObject({
      outcome: 'unknown',
      reason: 'refused_for_now',
      status,
      text: '{"title":"no"}',
    });
  });

  it.each([500, 501, 502, 503, 504, 520, 599])(
    'with %i is unknown: the effect may have happened',
    (status) => {
      for (const body of [slipJson, '{"title":"no"}', ''])
        expect(classify(status, body)).toMatchObject({
          outcome: 'unknown',
          reason: 'bank_error',
          status,
        });
    },
  );

  it('preserves the text of numbers that JavaScript would round', () => {
    const body = slipJson.replace('10.5', '10.5000000000000000000000');
    expect(classify(200, body)).toMatchObject({ outcome: 'success', text: body });
  });

  it.each([
    ['a string', '"garbage"'],
    ['null', 'null'],
    ['fields of wrong types', '{"nsu":{},"amount":"10,00"}'],
    ['a field with two values', '{"nsu":2,"notes":"a","notes":"b"}'],
    ['a proof nested too deeply', `{"proof":${'['.repeat(70)}${']'.repeat(70)}}`],
  ])('returns the other statement lines when one is %s', (_, line) => {
    const body = Buffer.from(`[{"nsu":1},${line},{"nsu":3}]`);
    const response = classifyResponse(
      readStatementPage,
      { status: 200, body, date: null },
      () => true,
    );
    expect(response).toMatchObject({ outcome: 'success', date: null });
    expect(response.outcome === 'success' && response.value).toHaveLength(3);
  });

  // Each range of the table, at both ends.
  it.each<[number, string, string, string | null]>([
    [199, 'unknown', slipJson, 'unexpected_response'],
    [200, 'success', slipJson, null],
    [299, 'success', slipJson, null],
    [300, 'unknown', slipJson, 'redirected'],
    [399, 'unknown', slipJson, 'redirected'],
    [400, 'rejection', '{"title":"no"}', null],
    [401, 'unknown', '{"title":"no"}', 'refused_for_now'],
    [402, 'rejection', '{"title":"no"}', null],
    [403, 'unknown', '{"title":"no"}', 'refused_for_now'],
    [404, 'rejection', '{"title":"no"}', null],
    [407, 'rejection', '{"title":"no"}', null],
    [408, 'unknown', '{"title":"no"}', 'refused_for_now'],
    [409, 'unknown', '{"title":"no"}', 'refused_for_now'],
    [410, 'rejection', '{"title":"no"}', null],
    [424, 'rejection', '{"title":"no"}', null],
    [425, 'unknown', '{"title":"no"}', 'refused_for_now'],
    [426, 'rejection', '{"title":"no"}', null],
    [429, 'unknown', '{"title":"no"}', 'refused_for_now'],
    [499, 'rejection', '{"title":"no"}', null],
    [500, 'unknown', '{"title":"no"}', 'bank_error'],
    [599, 'unknown', slipJson, 'bank_error'],
    [999, 'unknown', slipJson, 'bank_error'],
  ])('with %i is at best %s', (status, outcome, body, reason) => {
    expect(classify(status, body)).toMatchObject({ outcome, ...(reason ? { reason } : {}) });
  });

  it('carries the body of an unknown outcome, where it is JSON, and how long to wait', () => {
    const body = Buffer.from('{"title":"later"}');
    const response = { status: 429, body, date: null, retryAfterMs: 7_000 };
    expect(classifyResponse(createCharge, response, echoesOrder)).toEqual({
      outcome: 'unknown',
      reason: 'refused_for_now',
      status: 429,
      retryAfterMs: 7_000,
      isLimited: true,
      text: '{"title":"later"}',
    });
    expect(classify(503, '<html>')).not.toHaveProperty('text');
  });

  it('is classified without an exception; only 2xx succeeds and only 4xx rejects', () => {
    const anyBody = fc.oneof(fc.json(), fc.string(), fc.constant(slipJson));
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), anyBody, (status, body) => {
        const { outcome } = classify(status, body);
        if (outcome === 'success') expect([Math.floor(status / 100), body]).toEqual([2, slipJson]);
        if (outcome === 'rejection') expect(Math.floor(status / 100)).toBe(4);
        if (status >= 200 && status < 300 && body === slipJson) expect(outcome).toBe('success');
      }),
      { numRuns: 500 },
    );
  });

  it('is unknown for any bytes that are not JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(classify(200, Buffer.from(bytes)).outcome).toBe('unknown');
      }),
    );
  });
});

describe('a route whose response may be text', () => {
  const classifyText = (body: string, status = 200) =>
    classifyResponse(changeDueDate, { status, body: Buffer.from(body), date: null }, () => true);

  it.each([
    ['Due date changed', '"Due date changed"', 'Due date changed'],
    ['', 'null', null],
    ['"ok"', '"ok"', 'ok'],
  ])('takes %j as the JSON text %s', (body, text, value) => {
    expect(classifyText(body)).toEqual({
      outcome: 'success',
      status: 200,
      text,
      value,
      date: null,
    });
  });

  it('takes no text for a rejection', () => {
    expect(classifyText('Not found', 404)).toMatchObject({ outcome: 'unknown' });
  });
});
