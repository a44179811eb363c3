import { expect, it } from '@jest/globals';
import type { Settings } from '../../platform/settings/config.js';
import {
  changeCredentials,
  completeCredentials,
  namesOfSetCredentials,
  settingsCredentials,
} from './credentials.js';

const defaults = settingsCredentials(
  {
    apiKey: 'main',
    partnerKey: 'partner of main',
    apiKeyHeader: 'x-key',
    partnerKeyHeader: 'x-partner',
    accountHeader: { name: 'x-account', value: '1' },
    rateLimitPerSecond: 9,
  } as Settings['bank'],
  { certificate: 'cert', key: 'key', ca: 'ca' },
);

it('completes the connection from the settings, but never a key or the account header', () => {
  expect(completeCredentials({ apiKey: 'second' }, defaults)).toEqual({
    apiKey: 'second',
    partnerKey: null,
    apiKeyHeader: 'x-key',
    partnerKeyHeader: 'x-partner',
    accountHeader: null,
    tls: { certificate: 'cert', key: 'key', ca: 'ca' },
    rateLimitPerSecond: 9,
  });
});

it('never combines a certificate with the key of another certificate', () => {
  const { tls } = completeCredentials({ apiKey: 'x', clientCertificate: 'other' }, defaults);
  expect(tls).toEqual({ certificate: 'cert', key: 'key', ca: 'ca' });
  const pair = { apiKey: 'x', clientCertificate: 'other', clientKey: 'its key', ca: 'other ca' };
  expect(completeCredentials(pair, defaults).tls).toEqual({
    certificate: 'other',
    key: 'its key',
    ca: 'other ca',
  });
});

it('changes only the given fields: null removes, an absent field stays', () => {
  const stored = { apiKey: 'a', ca: 'c', webhookSecret: 'w' };
  const changed = changeCredentials(stored, { apiKey: undefined, ca: null, partnerKey: 'p' });
  expect(changed).toEqual({ apiKey: 'a', ca: null, webhookSecret: 'w', partnerKey: 'p' });
  expect(namesOfSetCredentials(changed)).toEqual(['apiKey', 'partnerKey', 'webhookSecret']);
});
