import { describe, expect, it } from '@jest/globals';
import { authenticatorUrl, codeOfStep, encodeBase32, findStep, stepAt } from './totp.js';

const secret = encodeBase32(Buffer.from('12345678901234567890'));

describe('a code of an authenticator', () => {
  it.each([
    ['1970-01-01T00:00:59Z', '287082'],
    ['2005-03-18T01:58:29Z', '081804'],
    ['2005-03-18T01:58:31Z', '050471'],
    ['2009-02-13T23:31:30Z', '005924'],
    ['2033-05-18T03:33:20Z', '279037'],
    ['2603-10-11T11:33:20Z', '353130'],
  ])('is that of RFC 6238 at %s', (time, code) => {
    expect(codeOfStep(secret, stepAt(new Date(time)))).toBe(code);
  });

  it('is accepted from one step before to one step after its own', () => {
    const now = new Date('2026-11-24T12:00:10Z');
    const found = [-2n, -1n, 0n, 1n, 2n].map((offset) =>
      findStep(secret, codeOfStep(secret, stepAt(now) + offset), now, null),
    );
    const step = stepAt(now);
    expect(found).toEqual([null, step - 1n, step, step + 1n, null]);
  });

  it('is refused once its step, or a later one, was accepted', () => {
    const now = new Date('2026-11-24T12:00:10Z');
    const code = codeOfStep(secret, stepAt(now));
    expect(findStep(secret, code, now, stepAt(now) - 1n)).toBe(stepAt(now));
    expect(findStep(secret, code, now, stepAt(now))).toBeNull();
    expect(findStep(secret, code, now, stepAt(now) + 1n)).toBeNull();
  });

  it.each(['', '12345', '1234567', 'abcdef', '１２３４５６'])('is never %p', (code) => {
    expect(findStep(secret, code, new Date(59_000), null)).toBeNull();
  });
});

describe('a secret', () => {
  it('is written in the base32 of RFC 4648, without padding', () => {
    const texts = ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'];
    expect(texts.map((text) => encodeBase32(Buffer.from(text)))).toEqual([
      '',
      'MY',
      'MZXQ',
      'MZXW6',
      'MZXW6YQ',
      'MZXW6YTB',
      'MZXW6YTBOI',
    ]);
  });

  it('stands in the address that authenticator apps read', () => {
    expect(authenticatorUrl('ABC', 'ana+x@example.com')).toBe(
      'otpauth://totp/Concilia%3Aana%2Bx%40example.com?secret=ABC&issuer=Concilia',
    );
  });
});
