// Events about sent money that settles on the statement or is reversed. They hold ids and amounts
// only.
import type { EventType, NewEvent } from '../events/event.js';
import type { Matched } from './line-outcome.js';
import { paymentOf, type EventLine } from './line-events.js';

/** Event types by the kind of the operation that sent the money. */
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
  /** `failed` when the bank reported that the transfer failed. */
  state: string;
}

/** Null unless the match belongs to sent money. */
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
