import { authorizationHeaders } from './webhook-authorization.js';

it.each([
  ['NONE', null, {}],
  ['HEADER', 'X-Webhook-Key: yourKey', { 'x-webhook-key': 'yourKey' }],
  ['HEADER', 'x-webhook-key:a: b', { 'x-webhook-key': 'a: b' }],
  ['BEARER', 'token', { authorization: 'Bearer token' }],
  ['BASIC', 'dXNlcjpwYXNz', { authorization: 'Basic dXNlcjpwYXNz' }],
] as const)('builds the headers for %s %p', (scheme, authorization, headers) => {
  expect(authorizationHeaders(scheme, authorization)).toEqual(headers);
});

it.each([
  ['HEADER', null],
  ['HEADER', 'no-colon'],
  ['HEADER', 'host: elsewhere'],
  ['HEADER', 'x-key: a\r\nx-other: b'],
  ['BEARER', null],
  ['BEARER', 'two words'],
  ['BASIC', ''],
] as const)('refuses %s %p, because no header can carry it', (scheme, authorization) => {
  expect(authorizationHeaders(scheme, authorization)).toBeNull();
});
