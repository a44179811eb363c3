import { wireReais } from '../wire-values.js';
import type { LineDetails } from '../ledger/movement.js';
import type { Transfer } from './transfer.js';

/**
 * The proof on a line of a sent Pix. A line never changes, and its debit is effective whatever the
 * outcome of the Pix. The outcome is the status of the transfer, and a reversal line when it fails.
 */
function proofOf(transfer: Transfer, status: Transfer['status']): object {
  const { id, endToEndId, idempotencyKey, type, description, payer, beneficiary } = transfer;
  const amount = wireReais(transfer.amountCents);
  return {
    ...{ id, endToEndId, idempotencyKey, status, type },
    ...{ amount, description, payer, beneficiary },
  };
}

/** The payer's debit line. */
export function debitLine(transfer: Transfer): LineDetails {
  return {
    typeName: 'DEBIT_PIX',
    notes: transfer.description ?? `Pix enviado para ${transfer.beneficiary.holder.name}`,
    endToEndId: transfer.endToEndId,
    proof: proofOf(transfer, 'PIX_EFFECTIVE'),
  };
}

/** The credit line that reverses the debit of a Pix that failed. */
export function reversalLine(transfer: Transfer): LineDetails {
  return {
    typeName: 'CREDIT_PIX_REVERSAL',
    notes: `Estorno de Pix para ${transfer.beneficiary.holder.name}`,
    endToEndId: transfer.endToEndId,
    originalEndToEndId: transfer.endToEndId,
    proof: { ...proofOf(transfer, 'PIX_ERROR'), error: transfer.error },
  };
}

/** The return of a Pix that the account sent, whole or in part. */
export interface ReturnedPix {
  /** The id of the return; it begins with D. */
  endToEndId: string;
  original: Transfer;
  amountCents: bigint;
  reason: string | null;
}

/** The code of a return that the beneficiary requested. */
export const returnCode = 'MD06';

/** The line of a return, for either side, with the ids of the return and of the original Pix. */
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
