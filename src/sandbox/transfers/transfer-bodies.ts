import type { Transfer } from './transfer.js';
import { wireReais } from '../wire-values.js';

/**
 * The body of `PIX_PAYMENT_UPDATED`, sent when a Pix is final. Its `eventType` differs from the
 * registered name. The IdempotencyKey is the only id of the client in it (real-bank.md A.4).
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

/**
 * The body for one side of a transfer between accounts. The credited side's id has the prefix `C`
 * (real-bank.md A.4).
 */
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
