// What business systems are told of a judged line. Ids and amounts, no names or documents.
import { eventAmount } from '../events/event-amount.js';
import type { EventType, NewEvent } from '../events/events.service.js';
import type { PaidSettlement } from '../expected-payments/settlement.js';
import type { ReversalSettlement } from './line-outcome.js';

export interface EventLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  correlationId: string | null;
  endToEndId: string | null;
  occurredAt: Date;
}

export interface EventCharge {
  correlationId: string;
  type: string;
  amountCents: bigint | null;
}

// `charge.paid` says that the goods may go: a part of the money must not be told by the same word.
const chargeEventTypes: Record<PaidSettlement | ReversalSettlement, EventType> = {
  settled: 'charge.paid',
  partially_settled: 'charge.partially_paid',
  overpaid: 'charge.overpaid',
  // Refunded by the bank. Our own refunds are reported by `refund.settled`.
  refunded: 'charge.refunded',
  partially_refunded: 'charge.refunded',
  reversed: 'charge.refunded',
  partially_reversed: 'charge.refunded',
};

export function chargeEvent(
  line: EventLine,
  charge: EventCharge,
  settlement: PaidSettlement | ReversalSettlement,
): NewEvent {
  return {
    type: chargeEventTypes[settlement],
    data: {
      correlationId: charge.correlationId,
      chargeType: charge.type,
      chargeAmount: charge.amountCents === null ? null : eventAmount(charge.amountCents),
      settlement,
      ...paymentOf(line),
    },
  };
}

export function unexpectedEvent(line: EventLine, breakKind: string): NewEvent {
  return {
    type: 'transaction.unexpected',
    data: {
      breakKind,
      isCredit: line.isCredit,
      transactionType: line.typeName,
      correlationId: line.correlationId,
      ...paymentOf(line),
    },
  };
}

export function paymentOf({ nsu, amountCents, endToEndId, occurredAt }: EventLine) {
  return {
    nsu,
    amount: eventAmount(amountCents),
    endToEndId,
    occurredAt: occurredAt.toISOString(),
  };
}
