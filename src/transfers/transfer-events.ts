// The events that business systems receive about a transfer. They hold ids and amounts, no names or
// documents.
import { eventAmount, type NewEvent } from '../events/event.js';
import type { Transfer } from '../generated/service/client.js';

export type FinishedTransfer = { state: 'effective' | 'failed' } & Pick<
  Transfer,
  | ('id' | 'operationId' | 'shape' | 'amountCents')
  | ('endToEndId' | 'externalId' | 'bankId' | 'errorCode')
>;

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
