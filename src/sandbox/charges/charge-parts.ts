import { parseTaxId } from '../../brazil/tax-id.js';
import type { PlainDate } from '../../brazil/calendar.js';
import type { OutsidePayer } from '../accounts/party.js';
import { amountOwed } from '../../brazil/amount-owed.js';
import { parseAdjustments } from '../../contract/charge-terms.js';
import type { ChargeRow } from './charges.queries.js';

/** The fields that only some types of charge have. */
export const emptyCharge = {
  wallet: null,
  ourNumber: null,
  yourNumber: null,
  dueDate: null,
  barCode: null,
  digitableLine: null,
  payer: null,
  finalBeneficiary: null,
  adjustments: null,
  pixKey: null,
  txid: null,
  qrCode: null,
  description: null,
  additionalInformation: null,
};

/** The default payer of a charge: the payer that it was issued to. */
export function payerOf(charge: Pick<ChargeRow, 'payer'>): OutsidePayer {
  if (charge.payer === null) return {};
  const { name, document } = charge.payer;
  return { name, document: parseTaxId(document)?.number ?? document };
}

/** The amount due of a charge on a day, in cents. Null when the payer chooses the amount. */
export function amountDueOn(
  charge: Pick<ChargeRow, 'amountCents' | 'dueDate' | 'adjustments'>,
  day: PlainDate,
): bigint | null {
  const { amountCents, dueDate } = charge;
  if (amountCents === null || dueDate === null) return amountCents;
  return amountOwed({ amountCents, dueDate, ...parseAdjustments(charge.adjustments) }, day);
}

/** The slip fields of a charge in its webhooks. All are null for a static QR code. */
export function slipOf(charge: ChargeRow) {
  return {
    walletNumber: charge.wallet,
    yourNumber: charge.yourNumber,
    ourNumber: charge.ourNumber,
    dueDate: charge.dueDate,
    barCode: charge.barCode,
    digitableLine: charge.digitableLine,
  };
}
