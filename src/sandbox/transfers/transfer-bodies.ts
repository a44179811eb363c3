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

export type TransferEvent = `TRANSFER_${'INTERNAL' | 'EXTERNAL'}_${'CREDITED' | 'DEBITED'}`;

/**
 * The body for one side of a transfer between accounts or of a TED. The credited side's id has the
 * prefix `C` (real-bank.md A.4).
 */
export function transferBody(
  transfer: Pick<
    Transfer,
    | ('id' | 'externalId' | 'status' | 'type' | 'amountCents' | 'createdAt')
    | ('payer' | 'beneficiary')
  >,
  eventType: TransferEvent,
): object {
  return {
    id: eventType.endsWith('_CREDITED') ? `C${transfer.id}` : transfer.id,
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
