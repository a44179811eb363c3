import type { TransferDetails, TransferResponse } from '../../bank-contract/transfers.js';
import type { Transfer } from './transfer.js';

/**
 * The response to the creation of a transfer. A Pix has an endToEndId, a transfer between accounts
 * an externalId.
 */
export function transferCreatedResponse(transfer: Transfer): TransferResponse {
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
    payer: transfer.payer,
    beneficiary: transfer.beneficiary,
  };
}

/** The current state for one side, with the nsu of the line on that side's statement. */
export function transferDetailsResponse(
  transfer: Transfer,
  transactionNsu: bigint | null,
): TransferDetails {
  return {
    ...transferCreatedResponse(transfer),
    transactionNsu,
    externalId: transfer.externalId,
    error: transfer.status === 'PIX_ERROR' ? transfer.error : null,
    updatedAt: transfer.updatedAt.toISOString(),
  };
}
