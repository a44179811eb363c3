import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCharge, type ChargeResponse } from '../contract/charges.js';
import { readStatementPage } from '../contract/statement.js';
import { classifyResponse, type BankAnswer } from './answer.js';

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
const asked = JSON.stringify(slip);
const told = new Date('2026-01-01T12:00:00Z');
const isOurs = ({ correlationId, amount }: ChargeResponse) =>
  correlationId === 'order-1' && amount === 1050n;

function decide(status: number, body: string | Buffer): BankAnswer<ChargeResponse> {
  return classifyResponse(createCharge, { status, body: Buffer.from(body), date: told }, isOurs);
}

describe('an answer of the bank', () => {
  it.each([200, 201, 202, 299])('with %i is a success when it validates and is ours', (status) => {
    expect(decide(status, asked)).toMatchObject({
      outcome: 'success',
      status,
      text: asked,
      value: { correlationId: 'order-1', amount: 1050n },
      date: told,
    });
  });

  it.each([
    ['another amount', { ...slip, amount: 10.51 }],
    ["another order's id", { ...slip, correlationId: 'order-2' }],
    ['no amount', { ...slip, amount: undefined }],
    ['an amount as text', { ...slip, amount: '10.5' }],
    ['an amount with a part of a centavo', { ...slip, amount: 10.505 }],
    ['a type that nobody knows', { ...slip, type: 'BANKSLIP_NEW' }],
    ['nothing in it', {}],
    ['a list', [slip]],
    ['null', null],
    ["a problem's body", { title: 'Bad Request', status: 400 }],
  ])('with 200 and %s is unknown, not a failure', (_, body) => {
    const text = JSON.stringify(body);
    expect(decide(200, text)).toEqual({
      outcome: 'unknown',
      reason: 'unexpected_answer',
      status: 200,
      text,
    });
  });

  it.each([
    ['a truncated body', asked.slice(0, -1)],
    ['HTML', '<!doctype html><html><body>200 OK</body></html>'],
    ['no body', ''],
    ['white space', ' \n '],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00])],
    ['two documents', `${asked}${asked}`],
    ['a body too deep to read', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('with %s is unreadable, whether it says yes or no', (_, body) => {
    for (const status of [200, 204, 400, 422])
      expect(decide(status, body)).toEqual({
        outcome: 'unknown',
        reason: 'unreadable_answer',
        status,
      });
  });

  it.each([300, 301, 302, 303, 304, 307, 308])(
    'with %i is a redirect, which proves nothing',
    (s) => {
      expect(decide(s, asked)).toMatchObject({
        outcome: 'unknown',
        reason: 'redirected',
        status: s,
      });
    },
  );

  it.each([
    '{"type":"x","title":"t","status":400,"traceId":"a","errors":{"$.dueDate":["m"]}}',
    '{"title":"t","status":422,"code":"START_PAYMENT_NOT_FOUND","errors":["m"]}',
    '{"title":"Not Found","status":404}',
    '{}',
  ])('with 400, 404, 410 or 422 and %s is the rejection that it says', (text) => {
    for (const status of [400, 404, 410, 422, 499])
      expect(decide(status, text)).toEqual({ outcome: 'rejection', status, text });
  });

  it.each(['null', '"no"', '404', 'false', '["no"]', 'Bad Request'])(
    'with 400 and %s is no word of the bank: unknown',
    (body) => {
      expect(decide(400, body)).toMatchObject({ outcome: 'unknown', reason: 'unreadable_answer' });
    },
  );

  it.each([401, 403, 408, 409, 425, 429])('with %i is no verdict on the request', (status) => {
    expect(decide(status, '{"title":"no"}')).toMatchObject({
      outcome: 'unknown',
      reason: 'refused_for_now',
      status,
      text: '{"title":"no"}',
    });
  });

  it.each([500, 501, 502, 503, 504, 520, 599])('with %i may have had its effect', (status) => {
    for (const body of [asked, '{"title":"no"}', ''])
      expect(decide(status, body)).toMatchObject({
        outcome: 'unknown',
        reason: 'bank_error',
        status,
      });
  });

  it('keeps the text of numbers that JavaScript would round', () => {
    const body = asked.replace('10.5', '10.5000000000000000000000');
    expect(decide(200, body)).toMatchObject({ outcome: 'success', text: body });
  });

  it.each([
    ['a text', '"garbage"'],
    ['nothing', 'null'],
    ['fields of other kinds', '{"nsu":{},"amount":"10,00"}'],
    ['a field with two values', '{"nsu":2,"notes":"a","notes":"b"}'],
    ['a proof that is too deep to read', `{"proof":${'['.repeat(70)}${']'.repeat(70)}}`],
  ])('lets a statement line that is %s not hide its neighbours', (_, line) => {
    const body = Buffer.from(`[{"nsu":1},${line},{"nsu":3}]`);
    const answer = classifyResponse(readStatementPage, { status: 200, body, date: null }, () => true);
    expect(answer).toMatchObject({ outcome: 'success', date: null });
    expect(answer.outcome === 'success' && answer.value).toHaveLength(3);
  });

  // Each row of the table, at both its ends.
  it.each<[number, string, string, string | null]>([
    [199, 'unknown', asked, 'unexpected_answer'],
    [200, 'success', asked, null],
    [299, 'success', asked, null],
    [300, 'unknown', asked, 'redirected'],
    [399, 'unknown', asked, 'redirected'],
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
    [599, 'unknown', asked, 'bank_error'],
    [999, 'unknown', asked, 'bank_error'],
  ])('with %i is, at best, %s', (status, outcome, body, reason) => {
    expect(decide(status, body)).toMatchObject({ outcome, ...(reason ? { reason } : {}) });
  });

  it('hands on what came with an unknown, where it is JSON, and how long to wait', () => {
    const body = Buffer.from('{"title":"later"}');
    const answer = { status: 429, body, date: null, retryAfterMs: 7_000 };
    expect(classifyResponse(createCharge, answer, isOurs)).toEqual({
      outcome: 'unknown',
      reason: 'refused_for_now',
      status: 429,
      retryAfterMs: 7_000,
      isLimited: true,
      text: '{"title":"later"}',
    });
    expect(decide(503, '<html>')).not.toHaveProperty('text');
  });

  it('is judged, never thrown at, whatever it is; only 2xx succeeds and only 4xx rejects', () => {
    const anyBody = fc.oneof(fc.json(), fc.string(), fc.constant(asked));
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), anyBody, (status, body) => {
        const { outcome } = decide(status, body);
        if (outcome === 'success') expect([Math.floor(status / 100), body]).toEqual([2, asked]);
        if (outcome === 'rejection') expect(Math.floor(status / 100)).toBe(4);
        if (status >= 200 && status < 300 && body === asked) expect(outcome).toBe('success');
      }),
      { numRuns: 500 },
    );
  });

  it('is unknown for any bytes that are no JSON', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(decide(200, Buffer.from(bytes)).outcome).toBe('unknown');
      }),
    );
  });
});
