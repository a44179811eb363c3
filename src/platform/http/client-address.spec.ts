import { describe, expect, it } from '@jest/globals';
import { addressOf, limitedAddressOf, trustProxyOption } from './client-address.js';

describe('limitedAddressOf', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
    ['', ''],
  ])('of %s is %s', (address, limited) => {
    expect(limitedAddressOf(address)).toBe(limited);
  });
});

it('takes the address of the connection when the header holds no address', () => {
  const socket = { remoteAddress: '10.0.0.1' } as never;
  expect(addressOf({ ip: 'unknown', socket })).toBe('10.0.0.1');
  expect(addressOf({ ip: '203.0.113.7', socket })).toBe('203.0.113.7');
});

it('believes nobody by default', () => {
  expect(trustProxyOption(0)).toBe(false);
  expect(trustProxyOption([])).toBe(false);
});

it('believes the given number of proxies', () => {
  const isTrusted = trustProxyOption(2) as (address: string, hop: number) => boolean;
  expect([0, 1, 2].map((hop) => isTrusted('10.0.0.1', hop))).toEqual([true, true, false]);
});
