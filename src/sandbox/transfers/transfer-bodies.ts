import type { Transfer } from './transfer.js';
import { wireReais } from '../wire-values.js';

/**
 * `PIX_PAYMENT_UPDATED`, told once a sent Pix is final. Its `eventType` is not the name that is subscribed to; the
 * IdempotencyKey is the one id of the client's that it carries (real-bank.md A.4).
 */
export function pixPaymentBody(transfer: Transfer): object {
  const isError = transfer.status === 'PIX_ERROR';
  return {
    eventType: isError ? 'PIX_PAYMENT_ERROR' : 'PIX_PAYMENT_EFFECTIVE',
    endToEndId: transfer.endToEndId,
    idempotencyKey: transfer.idempotencyKey,
    status: transfer.status,
    ...(isError ? { error: transfer.error } : {}),
    amount: wireReais(transfer.amountCents),
    createdAt: transfer.createdAt.toISOString(),
    description: transfer.description,
    payer: transfer.payer,
    beneficiary: transfer.beneficiary,
  };
}

type InternalEvent = 'TRANSFER_INTERNAL_CREDITED' | 'TRANSFER_INTERNAL_DEBITED';

/** Either side of a transfer between accounts; the credited side's id has a `C` before it (real-bank.md A.4). */
export function internalTransferBody(transfer: Transfer, eventType: InternalEvent): object {
  return {
    id: eventType === 'TRANSFER_INTERNAL_CREDITED' ? `C${transfer.id}` : transfer.id,
    externalId: transfer.externalId,
    eventType,
    status: transfer.status,
    paymentChannel: 'API',
    type: transfer.type,
    amount: wireReais(transfer.amountCents),
    createdAt: transfer.createdAt.toISOString(),
    payer: transfer.payer,
    beneficiary: transfer.beneficiary,
  };
}
