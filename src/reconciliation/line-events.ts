// Events about decided lines. They hold ids and amounts, never names or tax ids.
import { eventAmount, type EventType, type NewEvent } from '../events/event.js';
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

// Receivers release goods on `charge.paid`: a partial payment must not use the same event type.
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
