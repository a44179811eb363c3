import type { Party } from '../accounts/party.js';
import { wireReais } from '../wire-values.js';

/** A credited Pix, with the fields of its webhook bodies. */
export interface PixReceipt {
  endToEndId: string;
  amountCents: bigint;
  correlationId: string | null;
  createdAt: Date;
  payer: Party;
  beneficiary: Party;
}

/**
 * The body of `PIX_RECEIVED`. Documents are unmasked; `payee` repeats `beneficiary` (real-bank.md
 * A.4).
 */
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

/** The return of a sent Pix, whole or in part, to the account that sent it. */
export interface PixReturn {
  /** The id of the return; it begins with D. */
  endToEndId: string;
  originalEndToEndId: string;
  amountCents: bigint;
  refundCode: string;
  reason: string | null;
  createdAt: Date;
  /** The beneficiary of the original Pix, who pays the return. */
  payer: Party;
  /** The payer of the original Pix. */
  beneficiary: Party;
}

/** The body of `PIX_REFUNDED`. Its payer is the original Pix's beneficiary (real-bank.md A.4). */
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
    // As on every received Pix, the key is the endToEndId.
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
