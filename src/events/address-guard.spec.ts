import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAddressAllowed, checkEndpointUrl } from './address-guard.js';

const ownPort = 4_100;
const rulesWith = (isLoopbackAllowed: boolean) => ({
  isLoopbackAllowed,
  ownPorts: new Set([0, ownPort]),
});
const isRefused = (url: string, isLoopbackAllowed = false) =>
  !checkEndpointUrl(url, rulesWith(isLoopbackAllowed)).ok;
const isAllowed = (address: string, isLoopbackAllowed = false, port = 8_080) =>
  isAddressAllowed(address, port, rulesWith(isLoopbackAllowed));

/** Addresses that are not reachable over the public internet. */
const internalV4 = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
];
const internalV6 = [
  '::',
  '::7f00:1',
  '::10.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:0a00:0001::',
  '2002:7f00:1::',
  '3fff::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
];
const mapped = [
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '::FFFF:192.168.0.1',
  '0:0:0:0:0:ffff:a00:1',
  '0:0:0:0:0:ffff:10.0.0.1',
  '::ffff:0:10.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
];
const loopbacks = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.255.255',
  '2606:4700::1111',
];

describe('isAddressAllowed', () => {
  it.each([...internalV4, ...internalV6, ...mapped])('refuses %s', (address) => {
    expect(isAllowed(address)).toBe(false);
    expect(isAllowed(address, true)).toBe(false);
  });

  it.each([...loopbacks, '0:0:0:0:0:0:0:1', '0:0:0:0:0:ffff:7f00:1'])(
    'refuses %s, except with the sandbox bank',
    (address) => {
      expect(isAllowed(address)).toBe(false);
      expect(isAllowed(address, true)).toBe(true);
    },
  );

  it.each(publicAddresses)('allows %s', (address) => {
    expect(isAllowed(address)).toBe(true);
  });

  it.each([
    '',
    'localhost',
    '127.1',
    '2130706433',
    '0x7f.1',
    '1.1.1.1 ',
    '1.1.1.1:443',
    '[::1]',
    '::1%lo',
    'fe80::1%eth0',
    '2606:4700::1111%eth0',
    '::g',
  ])('refuses text that is not an IP address: %j', (text) => {
    expect(isAllowed(text, true)).toBe(false);
  });

  it('refuses an IPv6 form of every IPv4 address that it refuses', () => {
    const blocks = fc.constantFrom(
      '10',
      '127',
      '0',
      '192.168',
      '172.16',
      '169.254',
      '100.64',
      '224',
    );
    const address = fc
      .tuple(blocks, fc.ipV4())
      .map(([block, tail]) => [...block.split('.'), ...tail.split('.')].slice(0, 4).join('.'));
    fc.assert(
      fc.property(address, (plain) => {
        const [a = 0, b = 0, c = 0, d = 0] = plain.split('.').map(Number);
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        for (const form of [
          plain,
          `::ffff:${plain}`,
          `::ffff:${hex}`,
          `::${hex}`,
          `64:ff9b::${hex}`,
        ])
          expect([form, isAllowed(form)]).toEqual([form, false]);
      }),
    );
  });

  it('returns a boolean for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4()), fc.boolean(), (text, isSandbox) => {
        expect(typeof isAllowed(text, isSandbox)).toBe('boolean');
      }),
    );
  });

  it.each([22, 80, 443, 1_023, 5_432, 6_379, ownPort])(
    'refuses port %i of loopback with the sandbox bank too',
    (port) => {
      for (const address of loopbacks) expect(isAllowed(address, true, port)).toBe(false);
      expect(isAllowed('8.8.8.8', true, port)).toBe(true);
    },
  );
});

describe('checkEndpointUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com:443/Hooks?X=1', 'https://example.com/Hooks?X=1'],
    ['https://example.com./hooks', 'https://example.com/hooks'],
    ['https://example.com:8443/', 'https://example.com:8443/'],
    ['https://example.com:08443/a/./b/../c', 'https://example.com:8443/a/c'],
    ['https://пример.example/', 'https://xn--e1afmkfd.example/'],
    ['https://xn--e1afmkfd.EXAMPLE./', 'https://xn--e1afmkfd.example/'],
    ['https://example。com/', 'https://example.com/'],
    ['https://@example.com/', 'https://example.com/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://134744072:443', 'https://8.8.8.8/'],
    ['https://[2606:4700:0:0:0:0:0:1111]:443/', 'https://[2606:4700::1111]/'],
  ])('accepts %s, and stores it as %s', (url, stored) => {
    expect(checkEndpointUrl(url, rulesWith(false))).toMatchObject({ ok: true, url: stored });
    expect(checkEndpointUrl(stored, rulesWith(false))).toMatchObject({ ok: true, url: stored });
  });

  it.each(['https://example.com/#', 'https://example.com/a#b', 'https://example.com/?a=1#b'])(
    'refuses a fragment: %s',
    (url) => expect(isRefused(url)).toBe(true),
  );

  it.each([
    'https://example..com/',
    'https://.example.com/',
    'https://example.com../',
    `https://${'a'.repeat(64)}.example/`,
    `https://${'a.'.repeat(127)}example/`,
  ])('refuses a host name that DNS cannot hold: %s', (url) => {
    expect(isRefused(url)).toBe(true);
  });

  it.each(internalV4.concat('127.0.0.1'))('refuses the host %s', (address) => {
    expect(isRefused(`https://${address}/`)).toBe(true);
  });

  it.each([...internalV6, ...mapped, '::1', '::ffff:7f00:1'])(
    'refuses the host [%s]',
    (address) => {
      expect(isRefused(`https://[${address}]/`)).toBe(true);
    },
  );

  it.each([
    'https://0x7f.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://１２７.0.0.1/',
    'https://0xa9fea9fe/latest/meta-data/',
    'https://10.1/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://api.localhost/',
  ])('refuses %s, another spelling of an internal address', (url) => {
    expect(isRefused(url)).toBe(true);
  });

  it.each([
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://example.com@10.0.0.1/',
    'https://:secret@example.com/',
  ])('refuses credentials in the URL: %s', (url) => expect(isRefused(url, true)).toBe(true));

  it.each([
    'http://example.com/',
    'http://8.8.8.8/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'unix:/var/run/docker.sock',
    'ws://example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    '//example.com',
    'example.com',
    'https://',
    '',
    ' ',
  ])('refuses what is not an https URL: %j', (url) => expect(isRefused(url, true)).toBe(true));

  it.each([22, 25, 80, 1023, 6379])(
    'refuses port %i, which is reserved for other services',
    (port) => {
      expect(isRefused(`https://example.com:${port}/`)).toBe(true);
    },
  );

  it.each([
    'http://127.0.0.1:3000/',
    'http://localhost:8080/x',
    'http://hooks.localhost:8080/x',
    'http://[::1]:1024/',
    'https://127.0.0.1:8443/',
  ])('accepts %s only with the sandbox bank', (url) => {
    expect([isRefused(url, true), isRefused(url, false)]).toEqual([false, true]);
  });

  it.each([
    'http://127.0.0.1/',
    'https://127.0.0.1/',
    'http://localhost:1023/',
    'http://localhost:5432/',
    'http://[::1]:6379/',
    `http://127.0.0.1:${ownPort}/`,
    `http://localhost:${ownPort}/`,
    `http://hooks.localhost:0${ownPort}/`,
    `https://[::1]:${ownPort}/`,
    `https://[::ffff:127.0.0.1]:${ownPort}/`,
  ])('refuses %s, a port of another service, with the sandbox bank too', (url) => {
    expect(isRefused(url, true)).toBe(true);
  });

  it('refuses internal addresses with the sandbox bank too', () => {
    for (const address of internalV4) expect(isRefused(`http://${address}/`, true)).toBe(true);
    for (const address of internalV4) expect(isRefused(`https://${address}/`, true)).toBe(true);
  });

  it('does not throw, and accepts no URL with credentials', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl()), fc.boolean(), (text, isSandbox) => {
        const check = checkEndpointUrl(text, rulesWith(isSandbox));
        if (!check.ok) return;
        const { username, password } = new URL(check.url);
        expect(username + password).toBe('');
        expect(checkEndpointUrl(check.url, rulesWith(isSandbox))).toEqual(check);
      }),
    );
  });
});
