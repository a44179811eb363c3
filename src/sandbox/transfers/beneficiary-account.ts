import { AppError } from '../../platform/errors.js';
import type { BankAccount } from '../accounts/party.js';

const refusals = {
  beneficiary_account_not_found: 'The bank has no such beneficiary account.',
  beneficiary_account_is_own: "The beneficiary account is the payer's own.",
  insufficient_funds: 'The balance of the account is not sufficient.',
  balance_limit: 'The account cannot hold that much.',
  batch_interrupted: 'The batch was interrupted before this item.',
} as const;

/** Why a transfer between accounts is not done. */
export type RefusalReason = keyof typeof refusals;

export function describeRefusal(reason: RefusalReason): string {
  return refusals[reason];
}

/** `place` says which of many it is about. */
export function refusal(reason: RefusalReason, place = ''): AppError {
  return new AppError('rule_broken', { public: place + refusals[reason], reason });
}

/** Why an account cannot be paid, or null. */
export function refusalOf(
  found: BankAccount | undefined,
  payer: BankAccount,
): RefusalReason | null {
  if (!found) return 'beneficiary_account_not_found';
  return found.id === payer.id ? 'beneficiary_account_is_own' : null;
}

/** The account that a transfer goes to; throws `rule_broken` with the reason. */
export function getBeneficiary(found: BankAccount | undefined, payer: BankAccount): BankAccount {
  const reason = refusalOf(found, payer);
  if (reason || !found) throw refusal(reason ?? 'beneficiary_account_not_found');
  return found;
}
