// A change of the API reference that breaks clients of the last release is listed with its reason.
// `npm run check` runs it. `WRITE_RELEASED=1` makes the present references those of a release.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventTypes, type EventType } from '../src/events/event-types.js';
import { apiBreaks } from './support/api-breaks.js';

const folder = join(import.meta.dirname, '../docs/reference');
const names = ['openapi.json', 'openapi-sandbox-bank.json'];

/**
 * What breaks since the release, and why that is right. A release empties the list. 0.2.0 had no
 * reference in this form: until the next release, the yardstick is that of the commit which last
 * wrote it.
 */
const newBreakKind = 'a kind of break of its own evidence, only of accounts with a price list';
const ofMonths = 'events of months, which no subscription of before names';
const monthType = (type: string) => `Event (response).type: has "${type}" beyond what it had`;
const eventName = (type: EventType) =>
  type.replace(/(?:^|[._])(\w)/g, (_, first: string) => first.toUpperCase());
const accepted: Record<string, string> = {
  ...Object.fromEntries(
    [
      'Event (response).resource.kind: has "month" beyond what it had',
      monthType('month.closed'),
      // The form that stands nearest to a new one was compared with it.
      'DayCloseData (response).date: may be absent now',
      'DayCloseData (response).sequence: may be absent now',
      monthType('month.amended'),
      'CustomerData (response).customerId: may be absent now',
      'CustomerData (response).bankCustomerId: may be absent now',
      'CustomerData (response).reportedBy: may be absent now',
      monthType('month.reopened'),
    ].map((one) => [`openapi.json: ${one}`, ofMonths]),
  ),
  'openapi.json: Event (response).type: has "alarm.raised" beyond what it had':
    'only where somebody made such a rule',
  ...Object.fromEntries(
    [
      'Transaction (response).explanation.evidence: is object, not null',
      'Transaction (response).explanation.breakEvidence: is object, not null',
      'Break (response).kind: has "fee_mismatch" beyond what it had',
      'Break (response).evidence.candidates: may be absent now',
      'Break (response).evidence.originalNsu: is gone',
      'BreakDetail (response).kind: has "fee_mismatch" beyond what it had',
      'BreakDetail (response).evidence.candidates: may be absent now',
      'BreakDetail (response).evidence.originalNsu: is gone',
    ].map((one) => [`openapi.json: ${one}`, newBreakKind]),
  ),
  'openapi.json: AlertNotification (response).kind: has "escalated" beyond what it had':
    'only of rules that escalate',
  ...Object.fromEntries(
    [
      'AlertCondition (response).kinds: maxItems is narrower',
      'AlertCondition (response).kinds[]: has "fee_mismatch" beyond what it had',
    ].map((one) => [`openapi.json: ${one}`, newBreakKind]),
  ),
  'openapi.json: AlertCondition (response).minDeliveries: is gone': 'of the next entry',
  'openapi.json: AlertCondition (response).kind: has "unrequested_debit" beyond what it had':
    'only where somebody made such a rule',
  'openapi.json: AlertCondition (response).kind: has "not_guarded" beyond what it had':
    'only where somebody made such a rule',
  'openapi.json: AlertCondition (response).kind: has "local_sign_in" beyond what it had':
    'such rules exist only once single sign-on is set up',
  'openapi.json: AlertCondition (response).kind: has "month_close_overdue" beyond what it had':
    'only where somebody made such a rule',
  ...Object.fromEntries(
    eventTypes
      .filter((type) => !type.startsWith('month.') && type !== 'alarm.raised')
      .map((type) => [
        `openapi.json: ${eventName(type)}Event (response).resource.kind: has "month" beyond what it had`,
        ofMonths,
      ]),
  ),
};

/** Without what no client depends on. */
const essential = (text: string) =>
  JSON.stringify(JSON.parse(text), (key, value: unknown) =>
    ['description', 'summary', 'tags', 'example', 'examples'].includes(key) &&
    (typeof value !== 'object' || Array.isArray(value) || key.startsWith('example'))
      ? undefined
      : value,
  );

it('nothing breaks since the last release but what is accepted, and all of that does', () => {
  const found = names.flatMap((name) => {
    const now = essential(readFileSync(join(folder, name), 'utf8'));
    const path = join(folder, 'released', name);
    if (process.env['WRITE_RELEASED'] === '1') writeFileSync(path, `${now}\n`);
    return apiBreaks(
      JSON.parse(readFileSync(path, 'utf8')) as object,
      JSON.parse(now) as object,
    ).map((one) => `${name}: ${one}`);
  });
  expect(found).toEqual(Object.keys(accepted));
});

const body = (schema: object) => ({ content: { 'application/json': { schema } } });
const components = {
  schemas: { Kind: { type: 'string', enum: ['a', 'b'] }, Amount: { type: 'number' } },
};
const operation = {
  operationId: 'pay',
  'x-required-scope': 'pay',
  parameters: [{ name: 'limit', in: 'query', required: false, schema: { type: 'integer' } }],
  requestBody: {
    required: false,
    ...body({
      type: 'object',
      required: ['amount'],
      properties: {
        amount: { $ref: '#/components/schemas/Amount' },
        note: { type: ['string', 'null'], maxLength: 9 },
        kind: { $ref: '#/components/schemas/Kind' },
        extra: { type: 'object', additionalProperties: {} },
      },
    }),
  },
  responses: {
    200: {
      headers: { Location: {} },
      ...body({
        oneOf: [
          {
            type: 'object',
            required: ['kind', 'id'],
            properties: { kind: { const: 'a' }, id: { type: 'string', format: 'uuid' } },
          },
          {
            type: 'object',
            required: ['kind'],
            properties: { kind: { const: 'b' }, lines: { type: 'array', items: {} } },
          },
        ],
      }),
    },
    404: body({ type: 'object' }),
  },
};
const paid = { post: { requestBody: body({ type: 'object', properties: { id: {} } }) } };
const before = { components, paths: { '/pay': { post: operation } }, webhooks: { paid } };

/** The document with a value at a path. */
function withValue(path: string, value: unknown): object {
  const copy = JSON.parse(JSON.stringify(before)) as Record<string, never>;
  const keys = path.split('.').map((key) => key.replaceAll('|', '/'));
  const last = keys.pop()!;
  const parent = keys.reduce<Record<string, unknown>>((of, key) => of[key] as never, copy);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

const at = 'paths.|pay.post';
const sent = `${at}.requestBody.content.application|json.schema`;
const answered = `${at}.responses.200.content.application|json.schema.oneOf`;

describe('a change', () => {
  it.each<[string, unknown, string[]]>([
    [at, undefined, ['POST /pay: is gone']],
    [`${at}.operationId`, 'send', ['POST /pay: operationId is another']],
    [`${at}.x-required-scope`, 'read', ['POST /pay: x-required-scope is another']],
    [`${at}.parameters`, [], ['POST /pay.query limit: is gone']],
    [`${at}.parameters.0.required`, true, ['POST /pay.query limit: is required now']],
    [`${at}.parameters.0.schema.maximum`, 9, ['POST /pay.query limit: maximum is narrower']],
    [`${at}.requestBody.required`, true, ['POST /pay.application/json: is required now']],
    [`${sent}.required`, ['amount', 'note'], ['POST /pay.application/json.note: is required now']],
    [`${sent}.properties.note`, undefined, ['POST /pay.application/json.note: is gone']],
    [
      `${sent}.properties.note.maxLength`,
      8,
      ['POST /pay.application/json.note: maxLength is narrower'],
    ],
    [
      `${sent}.properties.note.type`,
      'string',
      ['POST /pay.application/json.note: is null, not string'],
    ],
    [
      `${sent}.properties.note.pattern`,
      '^a',
      ['POST /pay.application/json.note: pattern is narrower'],
    ],
    [
      `${sent}.properties.extra.additionalProperties`,
      false,
      ['POST /pay.application/json.extra: takes no other fields now'],
    ],
    ['components.schemas.Kind.enum', ['a'], ['Kind (request): has "b" beyond what it had']],
    ['components.schemas.Amount.type', 'integer', ['Amount (request): is number, not integer']],
    [`${at}.responses.200`, undefined, ['POST /pay 200: is gone']],
    [`${at}.responses.202`, {}, ['POST /pay: has the new status 202']],
    [`${at}.responses.200.headers`, {}, ['POST /pay 200.header Location: may be absent now']],
    [`${at}.responses.200.content`, {}, ['POST /pay 200.application/json: may be absent now']],
    [`${answered}.0.required`, ['kind'], ['POST /pay 200.application/json.id: may be absent now']],
    [
      `${answered}.0.properties.id.format`,
      'uri',
      ['POST /pay 200.application/json.id: format is narrower'],
    ],
    [
      `${answered}.1.properties.lines`,
      undefined,
      ['POST /pay 200.application/json.lines: is gone'],
    ],
    [`${answered}.0.properties.kind.const`, 'c', [expect.stringContaining('has "c" beyond')]],
    ['webhooks.paid', undefined, ['POST paid: is gone']],
    [
      'webhooks.paid.post.requestBody.content.application|json.schema.properties',
      {},
      ['POST paid.application/json.id: is gone'],
    ],
  ] as [string, unknown, string[]][])('of %s to %j breaks clients', (path, value, found) => {
    expect(apiBreaks(before, withValue(path, value))).toEqual(found);
  });

  it.each<[string, unknown]>([
    ['paths.|other', { get: operation }],
    [`${at}.parameters.1`, { name: 'after', in: 'query', required: false, schema: {} }],
    [`${sent}.properties.other`, { type: 'string' }],
    [`${sent}.properties.note.maxLength`, 10],
    [`${sent}.required`, []],
    ['components.schemas.Kind.enum', ['a', 'b', 'c']],
    [`${answered}.0.properties.more`, { type: 'string' }],
    [`${answered}.1.required`, ['kind', 'lines']],
    [`${at}.responses.404`, undefined],
    ['webhooks.refunded', paid],
  ])('of %s to %j breaks nobody', (path, value) => {
    expect(apiBreaks(before, withValue(path, value))).toEqual([]);
  });
});
