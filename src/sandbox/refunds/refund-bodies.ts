import type { Party } from '../accounts/party.js';

/** The proof on a refund's line. Amounts are JSON numbers as in the response. */
export interface RefundProof {
  id: string;
  endToEndId: string;
  originalEndToEndId: string;
  amount: unknown;
  createdAt: string;
  description: string | null;
  refundCode: string;
  reasonRefund: string;
  payer: Party;
  beneficiary: Party;
}

/**
 * The body of `PIX_REFUND_PAYMENT_UPDATED` for a refund that arrived (real-bank.md A.4, the page of
 * early 2025).
 */
export function refundEffectiveBody(
  proof: RefundProof,
  { idempotencyKey, finishedAt }: { idempotencyKey: string | null; finishedAt: Date },
): object {
  return {
    eventType: 'PIX_REFUND_PAYMENT_EFFECTIVE',
    operationType: 'DEBIT_REFUND',
    correlationId: null,
    endToEndId: proof.endToEndId,
    originalEndToEndId: proof.originalEndToEndId,
    idempotencyKey: idempotencyKey ?? proof.id,
    status: 'PIX_EFFECTIVE',
    amount: proof.amount,
    createdAt: proof.createdAt,
    finishedAt: finishedAt.toISOString(),
    description: proof.description,
    payer: proof.payer,
    beneficiary: proof.beneficiary,
  };
}

/**
 * The body of `PIX_REFUND_PAYMENT_UPDATED` for a refund that failed. Its `idempotencyKey` is the
 * original's endToEndId, and payer and beneficiary are null.
 */
export function refundErrorBody(
  proof: RefundProof,
  { error, finishedAt }: { error: { code: string; description: string }; finishedAt: Date },
): object {
  return {
    eventType: 'PIX_REFUND_PAYMENT_ERROR',
    correlationId: null,
    endToEndId: proof.endToEndId,
    idempotencyKey: proof.originalEndToEndId,
    status: 'PIX_ERROR',
    error,
    amount: proof.amount,
    createdAt: proof.createdAt,
    finishedAt: finishedAt.toISOString(),
    payer: null,
    beneficiary: null,
  };
}

/**
 * Why a Pix is refunded: the codes of the Central Bank's API for the natures ORIGINAL and
 * MED_FRAUDE.
 */
export interface RefundReason {
  code: 'MD06' | 'FR01';
  text: string;
}

export const requestedByReceiver: RefundReason = {
  code: 'MD06',
  text: 'Devolução solicitada pelo usuário recebedor',
};

/** The reason of a refund by the bank: the Mecanismo Especial de Devolução (MED). */
export function medReason(text: string | null): RefundReason {
  return { code: 'FR01', text: text ?? 'Mecanismo Especial de Devolução: suspeita de fraude' };
}
