import { expect, it } from '@jest/globals';
import { isGranted, nonceOf, timestampRequest } from './timestamp.js';

const hash = 'ab'.repeat(32);
const nonce = nonceOf(Buffer.alloc(8));
/** A response with this status, and these bytes for a token. */
const response = (status: number, ...token: Uint8Array[]) =>
  Buffer.concat([Buffer.from([0x30, 0x82, 0x01, 0x00, 0x30, 0x03, 0x02, 0x01, status]), ...token]);
const imprint = Buffer.from(hash, 'hex');
const ownNonce = Buffer.concat([Buffer.of(2, 8), nonce]);

it('asks for a timestamp of the hash, with a nonce and the certificate', () => {
  const request = timestampRequest(hash, nonce);
  expect(request).toHaveLength(2 + (request[1] ?? 0));
  expect(request.includes(imprint)).toBe(true);
  expect(request.subarray(-3)).toEqual(Buffer.of(1, 1, 0xff));
});

it.each([
  [0, [imprint, ownNonce], true],
  [1, [imprint, ownNonce], true],
  [2, [imprint, ownNonce], false],
  [0, [imprint], false],
  [0, [ownNonce], false],
])('takes the status %s with what it asked for alone', (status, token, expected) => {
  expect(isGranted(response(status, ...token), hash, nonce)).toBe(expected);
});

it('takes nothing that is no response', () => {
  for (const bytes of ['', '<html>', '0'])
    expect(isGranted(Buffer.from(bytes), hash, nonce)).toBe(false);
});
