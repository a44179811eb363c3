import type { ModeValues } from '../modes/modes.schema.js';

/** How a charge stands, in the bank's own words; it is told in those of the mode, which a test may change at any time. */
export type ChargeStatus = 'Pending' | 'Created' | 'Paid' | 'Expired' | 'Voided';

export type StatusWords = ModeValues['chargeStatus'];

const words: Record<ChargeStatus, keyof StatusWords> = {
  Pending: 'slipCreated',
  Created: 'qrCreated',
  Paid: 'paid',
  Expired: 'expired',
  Voided: 'voided',
};

export function reportStatus(status: ChargeStatus, told: StatusWords): string {
  return told[words[status]];
}
