import type { Party } from '../accounts/party.js';
import { wireReais } from '../wire-values.js';

/** A Pix that was credited, as its notifications tell it. */
export interface PixReceipt {
  endToEndId: string;
  amountCents: bigint;
  correlationId: string | null;
  createdAt: Date;
  payer: Party;
  beneficiary: Party;
}

/** `PIX_RECEIVED`: documents are unmasked, `payee` repeats `beneficiary` (real-bank.md A.4). */
export function pixReceivedBody(receipt: PixReceipt): object {
  const { endToEndId, correlationId, payer, beneficiary } = receipt;
  const amount = wireReais(receipt.amountCents);
  return {
    eventType: 'PIX_RECEIVED',
    correlationId,
    referenceId: endToEndId,
    endToEndId,
    amount,
    createdAt: receipt.createdAt.toISOString(),
    proof: {
      eventType: 'PIX_PAYMENT_EFFECTIVE',
      endToEndId,
      idempotencyKey: endToEndId,
      correlationId,
      status: 'PIX_EFFECTIVE',
      amount,
      payer,
      beneficiary,
      payee: beneficiary,
    },
  };
}

/** A Pix, or part of it, that comes back to the account that had sent it. */
export interface PixReturn {
  /** Begins with D. */
  endToEndId: string;
  originalEndToEndId: string;
  amountCents: bigint;
  refundCode: string;
  reason: string | null;
  createdAt: Date;
  /** Who gives it back. */
  payer: Party;
  /** Who had sent it. */
  beneficiary: Party;
}

/** `PIX_REFUNDED`: in a return the one who was paid pays (real-bank.md A.4). */
export function pixRefundedBody(returned: PixReturn): object {
  const { endToEndId, originalEndToEndId, payer, beneficiary } = returned;
  const amount = wireReais(returned.amountCents);
  const createdAt = returned.createdAt.toISOString();
  return {
    eventType: 'PIX_REFUNDED',
    endToEndId,
    originalEndToEndId,
    amount,
    bankAccount: { branch: beneficiary.branch, number: beneficiary.number },
    refundCode: returned.refundCode,
    reasonRefund: returned.reason,
    // As on every Pix that comes in.
    idempotencyKey: endToEndId,
    externalId: null,
    createdAt,
    proof: {
      endToEndId,
      originalEndToEndId,
      status: 'PIX_EFFECTIVE',
      operationType: 'CREDIT_REFUND',
      amount,
      createdAt,
      finishedAt: createdAt,
      payer,
      beneficiary,
    },
  };
}
