import { ruleBroken, type AppError } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';

const refusals = {
  beneficiary_account_not_found: 'The beneficiary account does not exist at this bank.',
  beneficiary_account_is_own: "The beneficiary account is the payer's own.",
  insufficient_funds: 'The balance of the account is not sufficient.',
  balance_limit: 'The amount exceeds the balance limit of the beneficiary account.',
  batch_interrupted: 'The batch was interrupted before this item.',
} as const;

/** Why a transfer between accounts is not done. */
export type RefusalReason = keyof typeof refusals;

export function describeRefusal(reason: RefusalReason): string {
  return refusals[reason];
}

/** `prefix` names the item of a batch that the error is about. */
export function refusalError(reason: RefusalReason, prefix = ''): AppError {
  return ruleBroken(reason, prefix + refusals[reason]);
}

/** Why the payer cannot pay an account; null when it can. */
export function transferRefusal(
  found: SandboxAccount | null | undefined,
  payer: SandboxAccount,
): RefusalReason | null {
  if (!found) return 'beneficiary_account_not_found';
  return found.id === payer.id ? 'beneficiary_account_is_own' : null;
}

/** The beneficiary account of a transfer. Throws `rule_broken` with the reason. */
export function getBeneficiary(
  found: SandboxAccount | null | undefined,
  payer: SandboxAccount,
): SandboxAccount {
  const reason = transferRefusal(found, payer);
  if (reason || !found) throw refusalError(reason ?? 'beneficiary_account_not_found');
  return found;
}
