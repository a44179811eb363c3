import type { TransferDetails, TransferResponse } from '../../contract/transfers.js';
import type { Transfer } from './transfer.js';

/** As its creation answers it: an endToEndId names a Pix, an externalId a transfer between accounts. */
export function transferAnswer(transfer: Transfer): TransferResponse {
  const { id, externalId, endToEndId, type } = transfer;
  return {
    id,
    ...(type === 'INTERNAL' ? { externalId } : { endToEndId }),
    transactionNsu: transfer.transactionNsu,
    status: transfer.status,
    type,
    amount: transfer.amountCents,
    createdAt: transfer.createdAt.toISOString(),
    description: transfer.description,
    payer: partyAnswer(transfer.payer),
    beneficiary: partyAnswer(transfer.beneficiary),
  };
}

/** As it stands, for one of its two sides, with the nsu of the line on that side's own statement. */
export function transferDetails(
  transfer: Transfer,
  transactionNsu: bigint | null,
): TransferDetails {
  return {
    ...transferAnswer(transfer),
    transactionNsu,
    externalId: transfer.externalId,
    error: transfer.status === 'PIX_ERROR' ? { ...transfer.error } : null,
    updatedAt: transfer.updatedAt.toISOString(),
  };
}

function partyAnswer({ number, branch, type, holder, participant }: Transfer['payer']) {
  return { number, branch, type, holder: { ...holder }, participant: { ...participant } };
}
