// What business systems are told of a transfer. Ids and amounts, no names or documents.
import { LosslessNumber } from 'lossless-json';
import type { NewEvent } from '../events/events.service.js';
import { formatReais } from '../money/cents.js';

export interface EndedTransfer {
  id: string;
  operationId: string;
  shape: string;
  state: 'effective' | 'failed';
  amountCents: bigint;
  endToEndId: string | null;
  externalId: string | null;
  bankId: string | null;
  errorCode: string | null;
}

export function transferEvent({ state, amountCents, id, ...ids }: EndedTransfer): NewEvent {
  const { operationId, shape, endToEndId, externalId, bankId, errorCode } = ids;
  return {
    type: `transfer.${state}`,
    data: {
      transferId: id,
      operationId,
      shape,
      amount: new LosslessNumber(formatReais(amountCents)),
      endToEndId,
      externalId,
      bankId,
      ...(state === 'failed' ? { errorCode } : {}),
    },
  };
}
