// What a bank account is shown to its bank with, as it is kept: what an account leaves out of how the bank is
// reached is the settings'; a key or a name never is, for it would speak for another account.
import type { Settings } from '../config.js';

/** PEM texts; a certificate and its key go together. */
export interface ClientTls {
  certificate: string | null;
  key: string | null;
  /** The bank's own authority; null: those that Node.js knows. */
  ca: string | null;
}

export interface BankCredentials {
  apiKey: string;
  /** Null: this account asks nothing in the partner's name. */
  partnerKey: string | null;
  apiKeyHeader: string;
  partnerKeyHeader: string;
  accountHeader: { name: string; value: string } | null;
  tls: ClientTls;
  rateLimitPerSecond: number | null;
}

/** As they stand, sealed, with an account that an operator added. */
export interface StoredCredentials {
  apiKey: string;
  partnerKey?: string | null | undefined;
  apiKeyHeader?: string | null | undefined;
  partnerKeyHeader?: string | null | undefined;
  accountHeader?: { name: string; value: string } | null | undefined;
  clientCertificate?: string | null | undefined;
  clientKey?: string | null | undefined;
  ca?: string | null | undefined;
  rateLimitPerSecond?: number | null | undefined;
  webhookSecret?: string | null | undefined;
}

export const credentialFields = [
  'apiKey',
  'partnerKey',
  'apiKeyHeader',
  'partnerKeyHeader',
  'accountHeader',
  'clientCertificate',
  'clientKey',
  'ca',
  'rateLimitPerSecond',
  'webhookSecret',
] as const satisfies readonly (keyof StoredCredentials)[];

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

/** The credentials of an account that was added. */
export function completeCredentials(
  kept: StoredCredentials,
  settings: BankCredentials,
): BankCredentials {
  const hasOwnPair = Boolean(kept.clientCertificate && kept.clientKey);
  return {
    apiKey: kept.apiKey,
    partnerKey: kept.partnerKey ?? null,
    apiKeyHeader: kept.apiKeyHeader ?? settings.apiKeyHeader,
    partnerKeyHeader: kept.partnerKeyHeader ?? settings.partnerKeyHeader,
    accountHeader: kept.accountHeader ?? null,
    tls: {
      certificate: hasOwnPair ? (kept.clientCertificate ?? null) : settings.tls.certificate,
      key: hasOwnPair ? (kept.clientKey ?? null) : settings.tls.key,
      ca: kept.ca ?? settings.tls.ca,
    },
    rateLimitPerSecond: kept.rateLimitPerSecond ?? settings.rateLimitPerSecond,
  };
}

/** Which are set, for who may not see them. */
export function credentialsSet(kept: StoredCredentials): string[] {
  return credentialFields.filter((name) => kept[name] !== undefined && kept[name] !== null);
}

/** Field by field: what a change leaves out stays, and null takes away. */
export function changeCredentials(
  kept: StoredCredentials,
  changes: Partial<StoredCredentials>,
): StoredCredentials {
  const said = Object.entries(changes).filter(([, value]) => value !== undefined);
  return { ...kept, ...Object.fromEntries(said) };
}
