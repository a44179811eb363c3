import { AppError } from '../../platform/errors.js';
import type { LockedAccount } from './ledger.queries.js';

/** What an account can give: its balance without what is held for what is not yet effective. */
export function availableCents({
  balanceCents,
  blockedCents,
}: Pick<LockedAccount, 'balanceCents' | 'blockedCents'>): bigint {
  return balanceCents - blockedCents;
}

export function insufficientFunds(): AppError {
  return new AppError('rule_broken', {
    public: 'The balance of the account is not sufficient.',
    reason: 'insufficient_funds',
  });
}
