// The events that business systems receive about a transfer. They hold ids and amounts, no names or
// documents.
import { eventAmount, type NewEvent } from '../events/event.js';

export interface FinishedTransfer {
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

export function transferEvent({ state, amountCents, id, ...ids }: FinishedTransfer): NewEvent {
  const { operationId, shape, endToEndId, externalId, bankId, errorCode } = ids;
  return {
    type: `transfer.${state}`,
    data: {
      transferId: id,
      operationId,
      shape,
      amount: eventAmount(amountCents),
      endToEndId,
      externalId,
      bankId,
      ...(state === 'failed' ? { errorCode } : {}),
    },
  };
}
