// What business systems are told when what they sent shows on the statement, or comes back. Ids and amounts alone.
import type { EventType, NewEvent } from '../events/events.service.js';
import type { Matched } from './judged.js';
import { paymentOf, type ToldLine } from './line-events.js';

/** By the kind of the operation that sent it. */
const eventNames: Partial<
  Record<string, Record<Matched['role'], Extract<EventType, `${string}.${'settled' | 'returned'}`>>>
> = {
  create_transfer: { payment: 'transfer.settled', return: 'transfer.returned' },
  create_transfer_batch: { payment: 'transfer.settled', return: 'transfer.returned' },
  pay_bill: { payment: 'bill_payment.settled', return: 'bill_payment.returned' },
  refund_pix: { payment: 'refund.settled', return: 'refund.returned' },
};

export interface ToldTransfer {
  id: string;
  externalId: string | null;
  /** Of which the bank has told that it failed, it is `failed`. */
  state: string;
}

/** Null for what is no money that was sent. */
export function movementEvent(
  line: ToldLine,
  {
    operation: { operationId, kind },
    role,
    settlement,
  }: Pick<Matched, 'operation' | 'role' | 'settlement'>,
  transfer: ToldTransfer | undefined,
): NewEvent | null {
  const names = eventNames[kind];
  if (!names) return null;
  return {
    type: names[role],
    data: {
      operationId,
      ...(transfer ? { transferId: transfer.id, externalId: transfer.externalId } : {}),
      ...paymentOf(line),
      settlement,
    },
  };
}
