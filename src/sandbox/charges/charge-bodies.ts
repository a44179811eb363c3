import type { ModeValues } from '../modes/modes.schema.js';
import type { Party } from '../accounts/party.js';
import { wireInteger, wireReais } from '../wire-values.js';

/** The slip fields of a charge in its webhooks. All are null for a static QR code. */
export interface PaidSlip {
  walletNumber: number | null;
  yourNumber: string | null;
  ourNumber: string | null;
  dueDate: string | null;
  barCode: string | null;
  digitableLine: string | null;
}

export interface ChargePayment {
  nsu: bigint;
  correlationId: string;
  /** The endToEndId of a Pix, or the id of the settlement in the clearing. */
  referenceId: string;
  endToEndId: string | null;
  amountCents: bigint;
  createdAt: Date;
  payer: { name: string; document: string };
  slip: PaidSlip;
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

/**
 * `CHARGE_OVERDUE`. The bank publishes only its name; this body has the charge and its due date.
 */
export function chargeOverdueBody(charge: {
  correlationId: string;
  amountCents: bigint;
  dueDate: string;
  status: string;
  updatedAt: Date;
}): object {
  return {
    eventType: 'CHARGE_OVERDUE',
    correlationId: charge.correlationId,
    amount: wireReais(charge.amountCents),
    dueDate: charge.dueDate,
    status: charge.status,
    updatedAt: charge.updatedAt.toISOString(),
  };
}
