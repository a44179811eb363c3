import type { ChargeDetails } from '../../bank-contract/charges.js';
import { invariant } from '../../platform/errors.js';
import type { SandboxAccount } from '../accounts/party.js';
import { wireInteger, wireReais } from '../wire-values.js';
import type { ModeValues } from '../modes/modes.schema.js';
import { isPartShown, type Preset } from '../presets/presets.js';
import type { ChargeRow, ChargeStatus, ChargePaymentRow } from './charges.queries.js';

/** The status names in force; a test may change them at any time. */
export type ChargeStatusNames = ModeValues['chargeStatus'];
type ResponseModes = Pick<ModeValues, 'chargeStatus' | 'preset'>;

const modeKeys: Record<ChargeStatus, keyof ChargeStatusNames> = {
  Pending: 'slipCreated',
  Created: 'qrCreated',
  Paid: 'paid',
  Expired: 'expired',
  Voided: 'voided',
};

export function chargeStatusName(status: ChargeStatus, names: ChargeStatusNames): string {
  return names[modeKeys[status]];
}

/** A charge in the contract's shape. A slip with QR code has the shape of a static Pix charge. */
export function buildChargeResponse(
  charge: Omit<ChargeRow, 'answer'>,
  { chargeStatus, preset }: ResponseModes,
  payments: object[] = [],
): ChargeDetails {
  const status = chargeStatusName(charge.status, chargeStatus);
  return charge.type === 'BANKSLIP'
    ? slipResponse(charge, status, preset)
    : pixResponse(charge, status, payments);
}

function slipResponse(
  charge: Omit<ChargeRow, 'answer'>,
  status: string,
  preset: Preset,
): ChargeDetails {
  const { amountCents, ourNumber, dueDate, barCode, digitableLine, payer } = charge;
  const isGuarantorShown = isPartShown('charge.finalBeneficiary', preset);
  invariant(
    amountCents && ourNumber && dueDate && barCode && digitableLine && payer,
    'a bank slip has all of its fields',
  );
  return {
    type: 'BANKSLIP',
    amount: amountCents,
    yourNumber: charge.yourNumber,
    ourNumber,
    correlationId: charge.correlationId,
    dueDate,
    barCode,
    digitableLine,
    payer,
    ...(charge.finalBeneficiary && isGuarantorShown
      ? { finalBeneficiary: charge.finalBeneficiary }
      : {}),
    status,
    createdAt: charge.createdAt.toISOString(),
    updatedAt: charge.updatedAt.toISOString(),
  };
}

function pixResponse(
  charge: Omit<ChargeRow, 'answer'>,
  status: string,
  payments: object[],
): ChargeDetails {
  const { amountCents, qrCode } = charge;
  invariant(qrCode, 'a Pix charge has its QR code');
  return {
    type: 'PIX_STATIC',
    correlationId: charge.correlationId,
    amount: amountCents,
    description: charge.description,
    additionalInfo: additionalInfoOf(charge),
    status,
    qrCode,
    payments,
    createdAt: charge.createdAt.toISOString(),
    updatedAt: charge.updatedAt.toISOString(),
  };
}

/** The numbers that identify a slip to people. A static QR code has none. */
export function additionalInfoOf(
  charge: Pick<ChargeRow, 'yourNumber' | 'ourNumber' | 'digitableLine'>,
): { key: string; value: string }[] {
  return [
    { key: 'YourNumber', value: charge.yourNumber },
    { key: 'OurNumber', value: charge.ourNumber },
    { key: 'DigitableLine', value: charge.digitableLine },
  ].filter((info): info is { key: string; value: string } => info.value !== null);
}

/** The current state of a charge, with its beneficiary and its payments (real-bank.md A.9). */
export function chargeDetailsResponse(
  charge: ChargeRow,
  account: SandboxAccount,
  responseModes: ResponseModes,
  payments: readonly ChargePaymentRow[],
): ChargeDetails {
  const paid = payments.map(paymentResponse);
  return {
    ...buildChargeResponse(charge, responseModes, paid),
    ...(charge.dueDate === null ? {} : { dueDate: charge.dueDate }),
    walletNumber: charge.wallet,
    beneficiary: {
      name: account.holderName,
      document: account.holderDocument,
      type: account.holderType,
    },
    payments: paid,
    additionalInfo: additionalInfoOf(charge),
  };
}

/** A payment of a charge. Its source is SPI for Pix and PCR for the clearing of slips. */
function paymentResponse(payment: ChargePaymentRow): object {
  return {
    nsu: wireInteger(payment.nsu),
    amount: wireReais(payment.changeCents),
    endToEndId: payment.endToEndId,
    source: payment.endToEndId ? 'SPI' : 'PCR',
    createdAt: payment.createdAt.toISOString(),
  };
}
