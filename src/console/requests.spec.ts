import { describe, expect, it } from '@jest/globals';
import { cookieNames, isOwnOrigin, readCookies, readNext, writeCookie } from './requests.js';

describe('a request to the console', () => {
  it.each([
    ['/console', '/console'],
    ['/console/accounts/main/audit?all=1', '/console/accounts/main/audit?all=1'],
    ['/console/accounts/main/breaks?name=a+b%2Ac', '/console/accounts/main/breaks?name=a+b%2Ac'],
    ['//evil.example', '/console'],
    ['/console//evil.example', '/console//evil.example'],
    ['https://evil.example/console', '/console'],
    ['/console/\\evil', '/console'],
    ['/consoles', '/console'],
    ['/console/a\r\nset-cookie: x', '/console'],
    [null, '/console'],
  ])('that wants to go on to %p goes to %s', (next, page) => {
    expect(readNext(next)).toBe(page);
  });

  it.each([
    ['http://127.0.0.1:3000', true],
    ['https://console.example', true],
    ['http://127.0.0.1:3001', false],
    ['https://console.example.evil', false],
    ['null', false],
    ['', false],
    [undefined, false],
  ])('with the origin %p is of this service: %p', (origin, isOwn) => {
    expect(isOwnOrigin(origin, '127.0.0.1:3000', 'https://console.example')).toBe(isOwn);
  });

  it('has the first of two cookies with one name', () => {
    const cookies = readCookies('a=1; concilia-session=own; concilia-session=planted; b');
    expect(cookies.get('concilia-session')).toBe('own');
    expect(readCookies(undefined).size).toBe(0);
  });

  it('gets a cookie that only HTTPS carries where the service has such an address', () => {
    const secure = cookieNames('https://console.example');
    expect(secure).toMatchObject({ session: '__Host-concilia-session', isSecure: true });
    expect(secure.ssoFlow('a;b=c d')).toBe('__Host-concilia-sso-flow-abcd');
    const cookie = writeCookie(secure.session, 'x', { isSecure: true, maxAgeSeconds: 0 });
    expect(cookie).toBe(
      '__Host-concilia-session=x; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=0',
    );
    expect(cookieNames('http://127.0.0.1:3000').isSecure).toBe(false);
    expect(cookieNames(null).isSecure).toBe(false);
  });
});
