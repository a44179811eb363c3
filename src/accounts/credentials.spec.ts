import { expect, it } from '@jest/globals';
import type { Settings } from '../config.js';
import {
  changeCredentials,
  completeCredentials,
  credentialsSet,
  settingsCredentials,
} from './credentials.js';

const ofSettings = settingsCredentials(
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

it('takes from the settings how the bank is reached, and never a key or the account’s name there', () => {
  expect(completeCredentials({ apiKey: 'second' }, ofSettings)).toEqual({
    apiKey: 'second',
    partnerKey: null,
    apiKeyHeader: 'x-key',
    partnerKeyHeader: 'x-partner',
    accountHeader: null,
    tls: { certificate: 'cert', key: 'key', ca: 'ca' },
    rateLimitPerSecond: 9,
  });
});

it('never mixes a certificate with the key of another', () => {
  const { tls } = completeCredentials({ apiKey: 'x', clientCertificate: 'other' }, ofSettings);
  expect(tls).toEqual({ certificate: 'cert', key: 'key', ca: 'ca' });
  const pair = { apiKey: 'x', clientCertificate: 'other', clientKey: 'its key', ca: 'other ca' };
  expect(completeCredentials(pair, ofSettings).tls).toEqual({
    certificate: 'other',
    key: 'its key',
    ca: 'other ca',
  });
});

it('changes what a change names: null takes away, what is left out stays', () => {
  const kept = { apiKey: 'a', ca: 'c', webhookSecret: 'w' };
  const changed = changeCredentials(kept, { apiKey: undefined, ca: null, partnerKey: 'p' });
  expect(changed).toEqual({ apiKey: 'a', ca: null, webhookSecret: 'w', partnerKey: 'p' });
  expect(credentialsSet(changed)).toEqual(['apiKey', 'partnerKey', 'webhookSecret']);
});
