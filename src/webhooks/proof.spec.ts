import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isProved, proofHeader } from './proof.js';

const secret = '3f9c0d5e8b7a';
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
    expect(isProved(headers, secret)).toBe(true);
  });

  it('is let in with a password that has a colon in it', () => {
    expect(isProved({ authorization: basic('bank:a:b') }, 'a:b')).toBe(true);
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
    expect(isProved(headers, secret)).toBe(false);
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
          expect(isProved(headers, one)).toBe(true);
          expect(isProved(headers, other)).toBe(one === other);
        }
      }),
    );
  });

  it('is judged, never thrown at, whatever it shows', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (header, authorization) => {
        expect(isProved({ [proofHeader]: header, authorization }, secret)).toBe(header === secret);
      }),
    );
  });
});
