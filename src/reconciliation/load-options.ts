// How late something may show on the statement of a bank.
import { visibilityBoundOrDefaultMs, type BankProfile } from '../bank/profiles.js';
import { debitMissingAfterMs } from './decide/deadlines.js';

/** How late something may show on the statement. */
export interface LoadOptions {
  /** A debit after the last attempt of its operation. */
  effectMs: number;
  /** A line that another line refunds or reverses, and the reversal of a failed transfer. */
  freshMs: number;
  /** Money that we sent, before it is missing. */
  debitMissingMs: number;
}

/** For banks without a known visibility bound: their analysis of a Pix takes up to an hour. */
const defaultEffectMs = 3_600_000;

export function loadOptionsOf(profile: BankProfile): LoadOptions {
  return {
    effectMs: profile.visibilityBoundMs ?? defaultEffectMs,
    freshMs: visibilityBoundOrDefaultMs(profile),
    debitMissingMs: debitMissingAfterMs(profile.visibilityBoundMs),
  };
}
