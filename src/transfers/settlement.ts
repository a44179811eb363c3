// What the statement says of a transfer: that of all money sent, and the bank's own word that nothing was.
import {
  settlementOfSent,
  type SentFacts,
  type SentSettlement,
} from '../expected-payments/sent-settlement.js';
import type { TransferState } from './bank-transfer.js';

/** A line is believed before any word: what was debited is settled, whatever the bank says of it. */
export function settlementOf({
  state,
  ...facts
}: SentFacts & { state: TransferState }): SentSettlement {
  const isWithdrawn = facts.isWithdrawn || state === 'failed' || state === 'rejected';
  return settlementOfSent({ ...facts, isWithdrawn });
}
