import { describe, expect, it } from '@jest/globals';
import { authenticatorUrl, codeAt, findStep, newTotpSecret, stepAt } from './totp.js';

/** Of RFC 6238: '12345678901234567890' in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a code of an authenticator', () => {
  it.each([
    ['1970-01-01T00:00:59Z', '287082'],
    ['2005-03-18T01:58:29Z', '081804'],
    ['2005-03-18T01:58:31Z', '050471'],
    ['2009-02-13T23:31:30Z', '005924'],
    ['2033-05-18T03:33:20Z', '279037'],
    ['2603-10-11T11:33:20Z', '353130'],
  ])('is that of RFC 6238 at %s', (time, code) => {
    expect(codeAt(secret, new Date(time))).toBe(code);
  });

  it('is accepted from one step before to one step after its own', () => {
    const now = new Date('2026-11-24T12:00:10Z');
    const found = [-2, -1, 0, 1, 2].map((offset) =>
      findStep(secret, codeAt(secret, new Date(now.getTime() + offset * 30_000)), now, null),
    );
    const step = stepAt(now);
    expect(found).toEqual([null, step - 1n, step, step + 1n, null]);
  });

  it('is refused once its step, or a later one, was accepted', () => {
    const now = new Date('2026-11-24T12:00:10Z');
    const code = codeAt(secret, now);
    expect(findStep(secret, code, now, stepAt(now) - 1n)).toBe(stepAt(now));
    expect(findStep(secret, code, now, stepAt(now))).toBeNull();
    expect(findStep(secret, code, now, stepAt(now) + 1n)).toBeNull();
  });

  it.each(['', '12345', '1234567', 'abcdef', '１２３４５６'])('is never %p', (code) => {
    expect(findStep(secret, code, new Date(59_000), null)).toBeNull();
  });
});

describe('a secret', () => {
  it('has 20 random bytes in base32, without padding', () => {
    expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(newTotpSecret());
  });

  it('stands in the address that authenticator apps read', () => {
    expect(authenticatorUrl('ABC', 'ana+x@example.com')).toBe(
      'otpauth://totp/Concilia%3Aana%2Bx%40example.com?secret=ABC&issuer=Concilia',
    );
  });
});
