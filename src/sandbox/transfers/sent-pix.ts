import { wireReais } from '../wire-values.js';
import type { LineDetails } from '../ledger/movement.js';
import type { Transfer } from './transfer.js';

/**
 * The proof of a line of a sent Pix. A line never changes, and the debit that it proves is effective: what becomes of
 * the Pix is the transfer's own status, and a reversal when it fails.
 */
function proofOf(transfer: Transfer, status: Transfer['status']): object {
  return {
    id: transfer.id,
    endToEndId: transfer.endToEndId,
    idempotencyKey: transfer.idempotencyKey,
    status,
    type: transfer.type,
    amount: wireReais(transfer.amountCents),
    description: transfer.description,
    payer: transfer.payer,
    beneficiary: transfer.beneficiary,
  };
}

/** The payer's line. */
export function debitLine(transfer: Transfer): LineDetails {
  return {
    typeName: 'DEBIT_PIX',
    notes: transfer.description ?? `Pix enviado para ${transfer.beneficiary.holder.name}`,
    endToEndId: transfer.endToEndId,
    proof: proofOf(transfer, 'PIX_EFFECTIVE'),
  };
}

/** The line that gives back what was debited for a Pix that did not arrive. */
export function reversalLine(transfer: Transfer): LineDetails {
  return {
    typeName: 'CREDIT_PIX_REVERSAL',
    notes: `Estorno de Pix para ${transfer.beneficiary.holder.name}`,
    endToEndId: transfer.endToEndId,
    originalEndToEndId: transfer.endToEndId,
    proof: { ...proofOf(transfer, 'PIX_ERROR'), error: transfer.error },
  };
}

/** A Pix that the account sent, or part of it, that comes back. */
export interface ReturnedPix {
  /** Begins with D. */
  endToEndId: string;
  original: Transfer;
  amountCents: bigint;
  reason: string | null;
}

/** The nature of a return that was asked for by nobody but who was paid. */
export const returnCode = 'MD06';

/** Either side's line of a return: the id of the return, and that of what it returns. */
export function returnLine(
  typeName: 'CREDIT_PIX_REFUND' | 'DEBIT_PIX_REFUND',
  { endToEndId, original, amountCents, reason }: ReturnedPix,
): LineDetails {
  return {
    typeName,
    notes: reason ?? 'Devolução de Pix',
    endToEndId,
    originalEndToEndId: original.endToEndId,
    proof: {
      endToEndId,
      originalEndToEndId: original.endToEndId,
      status: 'PIX_EFFECTIVE',
      type: original.type,
      refundCode: returnCode,
      amount: wireReais(amountCents),
      description: reason,
      payer: original.beneficiary,
      beneficiary: original.payer,
    },
  };
}
