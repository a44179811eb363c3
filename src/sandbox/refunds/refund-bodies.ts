import type { Party } from '../accounts/party.js';

/** A refund as its proof tells it: amounts are as they are told. */
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

/** `PIX_REFUND_PAYMENT_UPDATED` of a refund that arrived (real-bank.md A.4, the page of early 2025). */
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

/** `PIX_REFUND_PAYMENT_UPDATED` of a refund that failed: its key is the original's id, and it names nobody. */
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
