// What the statement says of a transfer: derived from its matches when it is read, and kept nowhere.
import type { TransferState } from './told-transfer.js';

export const settlements = [
  'open',
  'settled',
  'partially_returned',
  'returned',
  'withdrawn',
] as const;
export type Settlement = (typeof settlements)[number];

export interface SettlementFacts {
  state: TransferState;
  /** Its expectation was taken back: the bank did not do it. */
  isWithdrawn: boolean;
  /** What was debited, and what of it came back. */
  paidCents: bigint;
  returnedCents: bigint;
}

/** A line is believed before any word: what was debited is settled, whatever the bank says of it. */
export function settlementOf(facts: SettlementFacts): Settlement {
  const { state, isWithdrawn, paidCents, returnedCents } = facts;
  if (paidCents === 0n)
    return isWithdrawn || state === 'failed' || state === 'rejected' ? 'withdrawn' : 'open';
  if (returnedCents === 0n) return 'settled';
  return returnedCents < paidCents ? 'partially_returned' : 'returned';
}
