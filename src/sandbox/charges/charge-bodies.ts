import type { ModeValues } from '../modes/modes.schema.js';
import type { Party } from '../accounts/party.js';
import { wireInteger, wireReais } from '../wire-values.js';

/** The slip of a charge, for its notification; all null on a static QR code. */
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
  /** The endToEndId of a Pix, else the id of the clearing's write-off. */
  referenceId: string;
  endToEndId: string | null;
  amountCents: bigint;
  createdAt: Date;
  payer: { name: string; document: string };
  slip: PaidSlip;
  /** Null when the slip was paid through the clearing. */
  pix: { txid: string; key: string; payer: Party; payee: Party } | null;
}

/** `CHARGE_PAID`: all that both published versions carry, or exactly one of them. SPI is Pix, PCR the clearing. */
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

/** `CHARGE_OVERDUE`: published by name only; it tells the charge and its day. */
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
