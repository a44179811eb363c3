import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { isAuthentic, webhookKeyHeader } from './authentication.js';

const secret = '3f9c0d5e8b7a';
const body = Buffer.from('{"amount":1.10,"text":"ç"}');
const noTime = () => Promise.reject(new Error('the time is not needed'));
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('isAuthentic without a signature', () => {
  it.each([
    ['in the registered header', { [webhookKeyHeader]: secret }],
    ['as a bearer token', { authorization: `Bearer ${secret}` }],
    ['as a bearer token with the scheme in lower case', { authorization: `bearer ${secret}` }],
    ['as a basic password with a user name', { authorization: basic(`bank:${secret}`) }],
    ['as a basic password without a user name', { authorization: basic(`:${secret}`) }],
    ['in one of two schemes', { [webhookKeyHeader]: 'wrong', authorization: `Bearer ${secret}` }],
  ])('accepts the secret %s', async (_, headers) => {
    expect(await isAuthentic(headers, secret, body, noTime)).toBe(true);
  });

  it('accepts a basic password that contains a colon', async () => {
    expect(await isAuthentic({ authorization: basic('bank:a:b') }, 'a:b', body, noTime)).toBe(true);
  });

  it.each([
    ['no secret', {}],
    ['an empty header', { [webhookKeyHeader]: '' }],
    ['another secret', { [webhookKeyHeader]: 'other' }],
    ['a prefix of the secret', { [webhookKeyHeader]: secret.slice(0, -1) }],
    ['the secret with a suffix', { [webhookKeyHeader]: `${secret}0` }],
    ['the secret in upper case', { [webhookKeyHeader]: secret.toUpperCase() }],
    ['the secret twice', { [webhookKeyHeader]: `${secret}, ${secret}` }],
    ['the secret with a leading space', { [webhookKeyHeader]: ` ${secret}` }],
    ['the secret without a scheme', { authorization: secret }],
    ['the secret in an unknown scheme', { authorization: `Digest ${secret}` }],
    ['the secret as the user name', { authorization: basic(`${secret}:`) }],
    ['basic credentials without a colon', { authorization: basic(secret) }],
    ['a bearer token followed by other text', { authorization: `Bearer ${secret} x` }],
    ['basic credentials that are not base64', { authorization: 'Basic ***' }],
    ['an empty bearer token', { authorization: 'Bearer ' }],
  ])('rejects %s', async (_, headers) => {
    expect(await isAuthentic(headers, secret, body, noTime)).toBe(false);
  });

  it('accepts every secret in each scheme, and no other secret', async () => {
    const anySecret = fc.stringMatching(/^[\x21-\x7e]{1,64}$/);
    await fc.assert(
      fc.asyncProperty(anySecret, anySecret, async (presented, other) => {
        const schemes = [
          { [webhookKeyHeader]: presented },
          { authorization: `Bearer ${presented}` },
          { authorization: basic(`u:${presented}`) },
        ];
        for (const headers of schemes) {
          expect(await isAuthentic(headers, presented, body, noTime)).toBe(true);
          expect(await isAuthentic(headers, other, body, noTime)).toBe(presented === other);
        }
      }),
    );
  });

  it('does not throw, whatever the headers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (header, authorization) => {
        const headers = { [webhookKeyHeader]: header, authorization };
        expect(await isAuthentic(headers, secret, body, noTime)).toBe(header === secret);
      }),
    );
  });
});

describe('isAuthentic with a signature', () => {
  const whsec = `whsec_${Buffer.from('a key of bytes').toString('base64')}`;
  const signed = (key: string, sentAt = new Date(), bytes = body) => {
    const signer = key.startsWith('whsec_')
      ? new Webhook(key)
      : new Webhook(Buffer.from(key), { format: 'raw' });
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
      'webhook-signature': signer.sign('msg_1', sentAt, bytes.toString()),
    };
  };
  const now = () => Promise.resolve(new Date());
  const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);

  it.each([secret, whsec, 'çedilha'])(
    'accepts a signature made with the secret %s',
    async (key) => {
      expect(await isAuthentic(signed(key), key, body, now)).toBe(true);
    },
  );

  it('accepts one valid signature among several, in either order', async () => {
    const [valid, invalid] = [signed(secret), signed('another')];
    for (const order of [
      [valid, invalid],
      [invalid, valid],
    ]) {
      const signatures = order.map((headers) => headers['webhook-signature']);
      const several = { ...valid, 'webhook-signature': ['v1a,xx', ...signatures].join(' ') };
      expect(await isAuthentic(several, secret, body, now)).toBe(true);
    }
  });

  it.each([-4.9, 0, 4.9])('accepts a timestamp %p minutes from now', async (minutes) => {
    expect(await isAuthentic(signed(secret, minutesFromNow(minutes)), secret, body, now)).toBe(
      true,
    );
  });

  it.each([-5.1, 5.1, -1_000_000])('rejects a timestamp %p minutes from now', async (minutes) => {
    expect(await isAuthentic(signed(secret, minutesFromNow(minutes)), secret, body, now)).toBe(
      false,
    );
  });

  it.each([
    ['another secret', signed('another'), body],
    ['other bytes', signed(secret), Buffer.from(`${body.toString()} `)],
    ['no body', signed(secret), Buffer.alloc(0)],
    ['no id', { ...signed(secret), 'webhook-id': undefined }, body],
    ['another id', { ...signed(secret), 'webhook-id': 'msg_2' }, body],
    ['no timestamp', { ...signed(secret), 'webhook-timestamp': undefined }, body],
    ['a malformed timestamp', { ...signed(secret), 'webhook-timestamp': 'now' }, body],
    ['another timestamp', { ...signed(secret), 'webhook-timestamp': '1' }, body],
    ['an empty signature', { ...signed(secret), 'webhook-signature': '' }, body],
    ['a malformed signature', { ...signed(secret), 'webhook-signature': 'v1' }, body],
    ['a signature that is not base64', { ...signed(secret), 'webhook-signature': 'v1,***' }, body],
    [
      'a bearer token with a wrong signature',
      { ...signed('x'), authorization: `Bearer ${secret}` },
      body,
    ],
  ])('rejects %s', async (_, headers, bytes) => {
    expect(await isAuthentic(headers, secret, bytes, noTime)).toBe(false);
  });

  it('rejects a signature over bytes that are not valid UTF-8', async () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    expect(await isAuthentic(signed(secret, new Date(), bytes), secret, bytes, noTime)).toBe(false);
  });

  it('rejects without throwing when the secret is not a valid key', async () => {
    expect(await isAuthentic(signed(secret), 'whsec_***', body, noTime)).toBe(false);
    expect(await isAuthentic(signed(secret), '', body, noTime)).toBe(false);
  });

  it('rejects without throwing, whatever the headers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), fc.string(), async (id, timestamp, signature) => {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signature,
        };
        expect(await isAuthentic(headers, secret, body, noTime)).toBe(false);
      }),
    );
  });
});
