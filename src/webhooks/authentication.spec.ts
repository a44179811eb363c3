import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { isAuthentic, proofHeader } from './authentication.js';

const secret = '3f9c0d5e8b7a';
const body = Buffer.from('{"amount":1.10,"text":"ç"}');
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('a caller at the bank’s door', () => {
  it.each([
    ['in the header that we registered', { [proofHeader]: secret }],
    ['as a bearer', { authorization: `Bearer ${secret}` }],
    ['as a bearer, in small letters', { authorization: `bearer ${secret}` }],
    ['as the password of anyone', { authorization: basic(`bank:${secret}`) }],
    ['as the password of no one', { authorization: basic(`:${secret}`) }],
    ['in one of two ways', { [proofHeader]: 'wrong', authorization: `Bearer ${secret}` }],
  ])('is let in when it shows the secret %s', (_, headers) => {
    expect(isAuthentic(headers, secret, body)).toBe(true);
  });

  it('is let in with a password that has a colon in it', () => {
    expect(isAuthentic({ authorization: basic('bank:a:b') }, 'a:b', body)).toBe(true);
  });

  it.each([
    ['nothing', {}],
    ['nothing in the header', { [proofHeader]: '' }],
    ['another secret', { [proofHeader]: 'other' }],
    ['the beginning of it', { [proofHeader]: secret.slice(0, -1) }],
    ['more than it', { [proofHeader]: `${secret}0` }],
    ['it in capitals', { [proofHeader]: secret.toUpperCase() }],
    ['it twice', { [proofHeader]: `${secret}, ${secret}` }],
    ['it with a space', { [proofHeader]: ` ${secret}` }],
    ['it in no scheme', { authorization: secret }],
    ['it in an unknown scheme', { authorization: `Digest ${secret}` }],
    ['it as a user name', { authorization: basic(`${secret}:`) }],
    ['it without a user', { authorization: basic(secret) }],
    ['it as a bearer among others', { authorization: `Bearer ${secret} x` }],
    ['no base64', { authorization: 'Basic ***' }],
    ['an empty bearer', { authorization: 'Bearer ' }],
  ])('is kept out when it shows %s', (_, headers) => {
    expect(isAuthentic(headers, secret, body)).toBe(false);
  });

  it('is let in by every secret in each way, and by no other', () => {
    const word = fc.stringMatching(/^[\x21-\x7e]{1,64}$/);
    fc.assert(
      fc.property(word, word, (one, other) => {
        const ways = [
          { [proofHeader]: one },
          { authorization: `Bearer ${one}` },
          { authorization: basic(`u:${one}`) },
        ];
        for (const headers of ways) {
          expect(isAuthentic(headers, one, body)).toBe(true);
          expect(isAuthentic(headers, other, body)).toBe(one === other);
        }
      }),
    );
  });

  it('is judged, never thrown at, whatever it shows', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (header, authorization) => {
        const headers = { [proofHeader]: header, authorization };
        expect(isAuthentic(headers, secret, body)).toBe(header === secret);
      }),
    );
  });
});

describe('a caller that signs', () => {
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
  const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);

  it.each([secret, whsec, 'çedilha'])('is let in by the secret %s', (key) => {
    expect(isAuthentic(signed(key), key, body)).toBe(true);
  });

  it('is let in by one signature of several, in either order', () => {
    const [ours, theirs] = [signed(secret), signed('another')];
    for (const order of [
      [ours, theirs],
      [theirs, ours],
    ]) {
      const signatures = order.map((one) => one['webhook-signature']);
      const several = { ...ours, 'webhook-signature': ['v1a,xx', ...signatures].join(' ') };
      expect(isAuthentic(several, secret, body)).toBe(true);
    }
  });

  it.each([-4.9, 0, 4.9])('is let in when it sent %p minutes from now', (minutes) => {
    expect(isAuthentic(signed(secret, minutesFromNow(minutes)), secret, body)).toBe(true);
  });

  it.each([-5.1, 5.1, -1_000_000])('is kept out when it sent %p minutes from now', (minutes) => {
    expect(isAuthentic(signed(secret, minutesFromNow(minutes)), secret, body)).toBe(false);
  });

  it.each([
    ['another secret', signed('another'), body],
    ['other bytes', signed(secret), Buffer.from(`${body.toString()} `)],
    ['no body', signed(secret), Buffer.alloc(0)],
    ['no id', { ...signed(secret), 'webhook-id': undefined }, body],
    ['another id', { ...signed(secret), 'webhook-id': 'msg_2' }, body],
    ['no time', { ...signed(secret), 'webhook-timestamp': undefined }, body],
    ['an odd time', { ...signed(secret), 'webhook-timestamp': 'now' }, body],
    ['another time', { ...signed(secret), 'webhook-timestamp': '1' }, body],
    ['an empty signature', { ...signed(secret), 'webhook-signature': '' }, body],
    ['an odd signature', { ...signed(secret), 'webhook-signature': 'v1' }, body],
    ['no base64', { ...signed(secret), 'webhook-signature': 'v1,***' }, body],
    ['a bearer and a wrong signature', { ...signed('x'), authorization: `Bearer ${secret}` }, body],
  ])('is kept out with %s', (_, headers, bytes) => {
    expect(isAuthentic(headers, secret, bytes)).toBe(false);
  });

  it('is kept out with bytes that are no text, as those that they would stand for', () => {
    const bytes = Buffer.from([0x22, 0xff, 0x22]);
    expect(isAuthentic(signed(secret, new Date(), bytes), secret, bytes)).toBe(false);
  });

  it('is kept out, and nothing thrown, where the secret is no key', () => {
    expect(isAuthentic(signed(secret), 'whsec_***', body)).toBe(false);
    expect(isAuthentic(signed(secret), '', body)).toBe(false);
  });

  it('is judged, never thrown at, whatever it shows', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (id, timestamp, signature) => {
        const headers = {
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signature,
        };
        expect(isAuthentic(headers, secret, body)).toBe(false);
      }),
    );
  });
});
