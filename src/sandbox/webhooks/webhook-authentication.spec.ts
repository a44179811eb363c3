import { Webhook } from 'standardwebhooks';
import { authenticationHeaders, type AuthenticatedDelivery } from './webhook-authentication.js';

const sentAt = new Date();
const body = '{"amount":1.10}';
const delivery = (changes: Partial<AuthenticatedDelivery> = {}): AuthenticatedDelivery => ({
  scheme: 'HEADER',
  authorization: 'x-our-key: s3cret',
  id: 'msg_1',
  body,
  sentAt,
  isForged: false,
  ...changes,
});
const base64 = (text: string) => Buffer.from(text).toString('base64');
const basic = (password: string, login = 'bank') => ({
  authorization: `Basic ${base64(`${login}:${password}`)}`,
});
const byHeader = {};
const byBearer = { scheme: 'BEARER', authorization: 's3cret' } as const;
const byBasic = { scheme: 'BASIC', authorization: base64('login:s3:cret') } as const;
const byNothing = { scheme: 'NONE', authorization: null } as const;

it.each([
  ['registered', byHeader, { 'x-our-key': 's3cret' }],
  ['registered', byBearer, { authorization: 'Bearer s3cret' }],
  ['registered', byBasic, basic('s3:cret', 'login')],
  ['registered', byNothing, {}],
  ['header', byHeader, { 'x-our-key': 's3cret' }],
  ['header', byBearer, { 'x-webhook-key': 's3cret' }],
  ['header', byBasic, { 'x-webhook-key': 's3:cret' }],
  ['header', byNothing, {}],
  ['bearer', byHeader, { authorization: 'Bearer s3cret' }],
  ['bearer', byBasic, { authorization: 'Bearer s3:cret' }],
  ['basic', byHeader, basic('s3cret')],
  ['basic', byBasic, basic('s3:cret')],
  ['none', byHeader, {}],
  ['none', byBasic, {}],
  ['standard-webhooks', byNothing, {}],
] as const)(
  'authenticates in the mode %s with the registration %j',
  (signing, changes, headers) => {
    expect(authenticationHeaders(delivery(changes), signing)).toEqual(headers);
  },
);

describe('a signature', () => {
  const raw = (secret: string) => new Webhook(Buffer.from(secret), { format: 'raw' });

  it.each([
    [byHeader, raw('s3cret')],
    [byBearer, raw('s3cret')],
    [byBasic, raw('s3:cret')],
    [{ authorization: `x-k: whsec_${base64('a key of bytes')}` }, raw('a key of bytes')],
  ])('is computed with the registered secret of %j', (changes, verifier) => {
    const headers = authenticationHeaders(delivery(changes), 'standard-webhooks');
    expect(headers).toMatchObject({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    });
    expect(Object.keys(headers)).toHaveLength(3);
    expect(() => verifier.verify(body, headers)).not.toThrow();
    expect(() => verifier.verify(`${body} `, headers)).toThrow();
  });

  it('is replaced by the registered scheme when the secret is not a valid key', () => {
    const changes = { authorization: 'x-k: whsec_***' };
    expect(authenticationHeaders(delivery(changes), 'standard-webhooks')).toEqual({
      'x-k': 'whsec_***',
    });
  });
});

it.each(['registered', 'header', 'bearer', 'basic', 'standard-webhooks'] as const)(
  'builds the headers of a forgery in the mode %s with a wrong secret',
  (signing) => {
    const unreadable = { scheme: 'BASIC', authorization: base64('a:\u0007') } as const;
    for (const changes of [byHeader, byBearer, byBasic, unreadable]) {
      const genuine = authenticationHeaders(delivery(changes), signing);
      const forged = authenticationHeaders(delivery({ ...changes, isForged: true }), signing);
      expect(forged).not.toEqual(genuine);
      if (changes !== unreadable) expect(Object.keys(forged)).toEqual(Object.keys(genuine));
      expect(JSON.stringify(forged)).not.toContain('s3cret');
    }
    expect(authenticationHeaders(delivery({ ...byNothing, isForged: true }), signing)).toEqual({});
  },
);

it('builds no headers for a forgery in the mode none', () => {
  expect(authenticationHeaders(delivery({ isForged: true }), 'none')).toEqual({});
});
