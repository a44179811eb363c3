// The credentials of a bank account. Connection details that an account does not set come from the
// settings. A key or an account header never comes from the settings, because it would identify
// another account.
import type { Settings } from '../../platform/settings/config.js';
import type { RouteInput } from '../../bank-contract/route.js';
import { createAccount } from './accounts.schema.js';

/** PEM texts. A certificate and its key are set together. */
export interface ClientTls {
  certificate: string | null;
  key: string | null;
  /** The bank's certificate authority; null for the authorities that Node.js trusts. */
  ca: string | null;
}

export interface BankCredentials extends Pick<
  Settings['bank'],
  'apiKey' | 'apiKeyHeader' | 'partnerKeyHeader' | 'accountHeader' | 'rateLimitPerSecond'
> {
  /** Null where the account cannot call the routes that require a partner key. */
  partnerKey: string | null;
  tls: ClientTls;
}

/** The credentials of an account that an operator added; stored encrypted. */
export type StoredCredentials = RouteInput<typeof createAccount>['body']['credentials'];

const credentialNames = Object.keys(
  createAccount.body.shape.credentials.shape,
) as (keyof StoredCredentials)[];

/** The credentials of the account that the settings describe. */
export function settingsCredentials(bank: Settings['bank'], tls: ClientTls): BankCredentials {
  const { apiKey, partnerKey, apiKeyHeader, partnerKeyHeader } = bank;
  const { accountHeader, rateLimitPerSecond } = bank;
  return {
    apiKey,
    partnerKey,
    apiKeyHeader,
    partnerKeyHeader,
    accountHeader,
    tls,
    rateLimitPerSecond,
  };
}

/** The credentials of an account that an operator added, completed from the settings. */
export function completeCredentials(
  stored: StoredCredentials,
  settings: BankCredentials,
): BankCredentials {
  const hasOwnPair = Boolean(stored.clientCertificate && stored.clientKey);
  return {
    apiKey: stored.apiKey,
    partnerKey: stored.partnerKey ?? null,
    apiKeyHeader: stored.apiKeyHeader ?? settings.apiKeyHeader,
    partnerKeyHeader: stored.partnerKeyHeader ?? settings.partnerKeyHeader,
    accountHeader: stored.accountHeader ?? null,
    tls: {
      certificate: hasOwnPair ? (stored.clientCertificate ?? null) : settings.tls.certificate,
      key: hasOwnPair ? (stored.clientKey ?? null) : settings.tls.key,
      ca: stored.ca ?? settings.tls.ca,
    },
    rateLimitPerSecond: stored.rateLimitPerSecond ?? settings.rateLimitPerSecond,
  };
}

/** The names of the credentials that are set, for responses that must not show the values. */
export function namesOfSetCredentials(stored: StoredCredentials): string[] {
  return credentialNames.filter((name) => stored[name] != null);
}

/** Changes the given fields: an absent field keeps its value, and null removes the value. */
export function changeCredentials(
  stored: StoredCredentials,
  changes: Partial<StoredCredentials>,
): StoredCredentials {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...stored, ...Object.fromEntries(given) };
}
