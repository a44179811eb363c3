import type { PlainDate } from '../../brazil/calendar.js';
import { invariant } from '../../platform/errors.js';
import type { ModeValues } from '../modes/modes.schema.js';
import type { Party, SandboxAccount } from '../accounts/party.js';
import { wireInteger, wireReais } from '../wire-values.js';
import { slipOf } from './charge-parts.js';
import { additionalInfoOf } from './charge-response.js';
import type { ChargeRow } from './charges.queries.js';

export interface ChargePayment {
  nsu: bigint;
  correlationId: string;
  /** The endToEndId of a Pix, or the id of the settlement in the clearing. */
  referenceId: string;
  endToEndId: string | null;
  amountCents: bigint;
  createdAt: Date;
  payer: { name: string; document: string };
  /** The slip fields of the charge. */
  slip: object;
  /** Null when the slip was paid by bar code. */
  pix: { txid: string; key: string; payer: Party; payee: Party } | null;
}

/**
 * `CHARGE_PAID`: the fields of both published versions, or of one of them. SPI is Pix, PCR the
 * clearing.
 */
export function chargePaidBody(payment: ChargePayment, shape: ModeValues['webhookShape']): object {
  const { correlationId, referenceId, payer, endToEndId, pix } = payment;
  const amount = wireReais(payment.amountCents);
  const nsu = wireInteger(payment.nsu);
  const source = pix ? 'SPI' : 'PCR';
  const createdAt = payment.createdAt.toISOString();
  const proof = pix && {
    endToEndId,
    transactionId: pix.txid,
    key: pix.key,
    amount,
    payer: pix.payer,
    payee: pix.payee,
  };
  const paid = { nsu, correlationId, referenceId };
  switch (shape) {
    case 'v1':
      return { ...paid, source, amount, createdAt, payer, proof };
    case 'v2':
      return { eventType: 'CHARGE_PAID_V2', correlationId, ...payment.slip, amount, payer };
    case 'complete':
      return {
        eventType: 'CHARGE_PAID',
        ...paid,
        endToEndId,
        source,
        ...payment.slip,
        amount,
        createdAt,
        payer,
        proof,
      };
  }
}

/** `CHARGE_OVERDUE`. The bank publishes only its name; this body has the charge's due date. */
export function chargeOverdueBody(
  { correlationId, amountCents }: Pick<ChargeRow, 'correlationId' | 'amountCents'>,
  { dueDate, status, at }: { dueDate: PlainDate; status: string; at: Date },
): object {
  invariant(amountCents !== null, 'a bank slip has its amount');
  return {
    eventType: 'CHARGE_OVERDUE',
    correlationId,
    amount: wireReais(amountCents),
    ...{ dueDate, status },
    updatedAt: at.toISOString(),
  };
}

/**
 * `CHARGE_VOIDED`: without `eventType`, shaped like the bank's internal record (real-bank.md A.4).
 */
export function chargeVoidedBody(
  charge: ChargeRow,
  { branch, number }: SandboxAccount,
  status: string,
): object {
  const { amountCents, payer, txid, qrCode } = charge;
  const chargeId = wireInteger(charge.id);
  const { dueDate, ...slip } = slipOf(charge);
  return {
    id: chargeId,
    bankAccount: { branch, number },
    correlationId: charge.correlationId,
    type: charge.type,
    amount: amountCents === null ? null : wireReais(amountCents),
    dueDate,
    dueDateBrazil: dueDate,
    status,
    updatedAt: charge.updatedAt.toISOString(),
    payers: payer === null ? [] : [payer],
    pix: qrCode && {
      chargeId,
      identifier: txid,
      qrCode,
      additionalInfo: additionalInfoOf(charge),
    },
    bankslip: slip.barCode && { chargeId, ...slip },
  };
}
