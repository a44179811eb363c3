import { parseTaxId } from '../../brazil/tax-id.js';
import { buildStaticBrCode } from '../../brazil/br-code.js';
import type { PlainDate } from '../../brazil/calendar.js';
import { txidOfCorrelationId } from '../../brazil/static-txid.js';
import type { OutsidePayer, SandboxAccount } from '../accounts/party.js';
import { amountOwed } from '../../brazil/amount-owed.js';
import { parseAdjustments } from '../../bank-contract/charge-terms.js';
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
export function slipOf(charge: Omit<ChargeRow, 'accountId' | 'payer' | 'bodyHash' | 'answer'>) {
  const { wallet: walletNumber, yourNumber, ourNumber, dueDate, barCode, digitableLine } = charge;
  return { walletNumber, yourNumber, ourNumber, dueDate, barCode, digitableLine };
}

/** The QR code of a charge, with the Pix key and the txid in it. */
export function staticQrOf(
  account: SandboxAccount,
  pixKey: string,
  { correlationId, amountCents }: Pick<ChargeRow, 'correlationId' | 'amountCents'>,
  additionalInformation = '',
) {
  const txid = txidOfCorrelationId(correlationId);
  const qrCode = buildStaticBrCode({
    pixKey,
    txid,
    merchantName: account.holderName,
    merchantCity: account.city,
    additionalInformation,
    ...(amountCents === null ? {} : { amountCents }),
  });
  return { pixKey, txid, qrCode };
}
