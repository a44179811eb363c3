import type { ChargeDetails } from '../../contract/charges.js';
import { invariant } from '../../platform/errors.js';
import { parseJson } from '../../platform/exact-json.js';
import type { BankAccount } from '../accounts/party.js';
import { wireInteger, wireReais } from '../wire-values.js';
import type { ModeValues } from '../modes/modes.schema.js';
import type { ChargeRow, ChargeStatus, PaymentRow } from './charges.queries.js';

/** The status names in force; a test may change them at any time. */
export type StatusWords = ModeValues['chargeStatus'];

const modeKeys: Record<ChargeStatus, keyof StatusWords> = {
  Pending: 'slipCreated',
  Created: 'qrCreated',
  Paid: 'paid',
  Expired: 'expired',
  Voided: 'voided',
};

export function reportStatus(status: ChargeStatus, names: StatusWords): string {
  return names[modeKeys[status]];
}

/** A bank slip as it is told: by itself a slip, with a QR code in the shape of a static Pix charge. */
export function chargeAnswer(
  charge: Omit<ChargeRow, 'answer'>,
  words: StatusWords,
  payments: object[] = [],
): ChargeDetails {
  const status = reportStatus(charge.status, words);
  return charge.type === 'BANKSLIP'
    ? slipAnswer(charge, status)
    : pixAnswer(charge, status, payments);
}

function slipAnswer(charge: Omit<ChargeRow, 'answer'>, status: string): ChargeDetails {
  const { amountCents, ourNumber, dueDate, barCode, digitableLine, payer } = charge;
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
    payer: parseJson(payer) as Record<string, unknown>,
    ...(charge.finalBeneficiary ? { finalBeneficiary: parseJson(charge.finalBeneficiary) } : {}),
    status,
    createdAt: charge.createdAt.toISOString(),
    updatedAt: charge.updatedAt.toISOString(),
  };
}

function pixAnswer(
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

/** The numbers by which people know a slip; none on a static QR code. */
export function additionalInfoOf(
  charge: Pick<ChargeRow, 'yourNumber' | 'ourNumber' | 'digitableLine'>,
): { key: string; value: string }[] {
  return [
    { key: 'YourNumber', value: charge.yourNumber },
    { key: 'OurNumber', value: charge.ourNumber },
    { key: 'DigitableLine', value: charge.digitableLine },
  ].filter((info): info is { key: string; value: string } => info.value !== null);
}

/** A charge as it stands now, with whom it pays and what was paid for it (real-bank.md A.9). */
export function chargeDetailsAnswer(
  charge: ChargeRow,
  account: BankAccount,
  words: StatusWords,
  payments: readonly PaymentRow[],
): ChargeDetails {
  const paid = payments.map(paymentAnswer);
  return {
    ...chargeAnswer(charge, words, paid),
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

/** A payment of a charge; SPI is Pix, PCR the clearing of slips. */
function paymentAnswer(payment: PaymentRow): object {
  return {
    nsu: wireInteger(payment.nsu),
    amount: wireReais(payment.change_cents),
    endToEndId: payment.end_to_end_id,
    source: payment.end_to_end_id ? 'SPI' : 'PCR',
    createdAt: payment.created_at.toISOString(),
  };
}
