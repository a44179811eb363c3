// What business systems are told of a transfer. Ids and amounts, no names or documents.
import { eventAmount } from '../events/event-amount.js';
import type { NewEvent } from '../events/events.service.js';

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
      amount: eventAmount(amountCents),
      endToEndId,
      externalId,
      bankId,
      ...(state === 'failed' ? { errorCode } : {}),
    },
  };
}
