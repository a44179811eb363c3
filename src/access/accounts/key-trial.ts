// Whether a key works at the bank, before it is stored. The client of the bank stands above this
// module: it binds what tries the key.
import { fieldError } from '../../bank-contract/field-errors.js';
import { AppError } from '../../platform/errors.js';
import type { BankCredentials } from './credentials.js';

/** `untried`: the bank did not answer, or not as it answers a key. */
export type TriedKey = 'accepted' | 'bank_key_refused' | 'bank_key_untried';

export abstract class KeyTrial {
  /** Reads at the bank with the credentials, outside any transaction. Never throws for the bank. */
  abstract try(credentials: BankCredentials): Promise<TriedKey>;
}

/** Throws `rule_broken` beside the key, unless the bank accepts it. */
export async function assertKeyWorks(trial: KeyTrial, given: BankCredentials): Promise<void> {
  const reason = await trial.try(given);
  if (reason === 'accepted') return;
  throw new AppError('rule_broken', {
    reason,
    public: 'The bank did not accept the key. To save it all the same, send no triesKey.',
    errors: { '$.credentials.apiKey': [fieldError(reason)] },
  });
}

/** Of what a call with the account's own key depends. */
export const triedCredentials = [
  ...(['apiKey', 'apiKeyHeader', 'accountHeader', 'clientCertificate', 'clientKey'] as const),
  'ca' as const,
];
