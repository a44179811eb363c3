import { parseTaxId } from '../../brazil/tax-id.js';
import type { PlainDate } from '../../brazil/calendar.js';
import type { OutsidePayer } from '../accounts/party.js';
import type { PaidSlip } from './charge-bodies.js';
import { amountOwed } from '../../brazil/amount-owed.js';
import { readAdjustments } from '../../contract/charge-terms.js';
import type { ChargeRow } from './charges.queries.js';

/** Who pays when nobody else is named: the payer that the charge was issued to. */
export function payerOf(charge: Pick<ChargeRow, 'payer'>): OutsidePayer {
  if (charge.payer === null) return {};
  const { name, document } = JSON.parse(charge.payer) as { name: string; document: string };
  return { name, document: parseTaxId(document)?.number ?? document };
}

/** What the charge asks for on a day, in cents; null when its payer chooses. */
export function askedAmount(
  charge: Pick<ChargeRow, 'amountCents' | 'dueDate' | 'adjustments'>,
  day: PlainDate,
): bigint | null {
  const { amountCents, dueDate } = charge;
  if (amountCents === null || dueDate === null) return amountCents;
  return amountOwed({ amountCents, dueDate, ...readAdjustments(charge.adjustments) }, day);
}

export function slipOf(charge: ChargeRow): PaidSlip {
  return {
    walletNumber: charge.wallet,
    yourNumber: charge.yourNumber,
    ourNumber: charge.ourNumber,
    dueDate: charge.dueDate,
    barCode: charge.barCode,
    digitableLine: charge.digitableLine,
  };
}
