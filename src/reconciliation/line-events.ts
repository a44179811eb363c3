// What business systems are told of a judged line. Ids and amounts, no names or documents.
import { eventAmount } from '../events/event-amount.js';
import type { EventType, NewEvent } from '../events/events.service.js';
import type { PaidSettlement } from '../expected-payments/settlement.js';
import type { ReturnSettlement } from './judged.js';

export interface ToldLine {
  nsu: bigint;
  isCredit: boolean;
  amountCents: bigint;
  typeName: string;
  correlationId: string | null;
  endToEndId: string | null;
  occurredAt: Date;
}

export interface ToldCharge {
  correlationId: string;
  type: string;
  amountCents: bigint | null;
}

// `charge.paid` says that the goods may go: a part of the money must not be told by the same word.
const chargeEventTypes: Record<PaidSettlement | ReturnSettlement, EventType> = {
  settled: 'charge.paid',
  partially_settled: 'charge.partially_paid',
  overpaid: 'charge.overpaid',
  // By the bank itself; what we give back is told by its refund.
  returned: 'charge.returned',
  partially_returned: 'charge.returned',
};

export function chargeEvent(
  line: ToldLine,
  charge: ToldCharge,
  settlement: PaidSettlement | ReturnSettlement,
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

export function unexpectedEvent(line: ToldLine, breakKind: string): NewEvent {
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

export function paymentOf({ nsu, amountCents, endToEndId, occurredAt }: ToldLine) {
  return {
    nsu,
    amount: eventAmount(amountCents),
    endToEndId,
    occurredAt: occurredAt.toISOString(),
  };
}
