// What business systems are told when what they sent shows on the statement, or comes back. Ids and amounts alone.
import type { EventType, NewEvent } from '../events/events.service.js';
import type { Matched } from './line-outcome.js';
import { paymentOf, type EventLine } from './line-events.js';

/** By the kind of the operation that sent it. */
const eventNames: Partial<
  Record<string, Record<Matched['role'], Extract<EventType, `${string}.${'settled' | 'reversed'}`>>>
> = {
  create_transfer: { payment: 'transfer.settled', reversal: 'transfer.reversed' },
  create_transfer_batch: { payment: 'transfer.settled', reversal: 'transfer.reversed' },
  pay_bill: { payment: 'bill_payment.settled', reversal: 'bill_payment.reversed' },
  refund_pix: { payment: 'refund.settled', reversal: 'refund.reversed' },
};

export interface BankTransfer {
  id: string;
  externalId: string | null;
  /** Of which the bank has told that it failed, it is `failed`. */
  state: string;
}

/** Null for what is no money that was sent. */
export function movementEvent(
  line: EventLine,
  {
    operation: { operationId, kind },
    role,
    settlement,
  }: Pick<Matched, 'operation' | 'role' | 'settlement'>,
  transfer: BankTransfer | undefined,
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
