// The events that business systems receive, and how amounts are written in them.
import { LosslessNumber } from 'lossless-json';
import { formatReais } from '../money/cents.js';

export const eventTypes = [
  'charge.paid',
  'charge.partially_paid',
  'charge.overpaid',
  'charge.refunded',
  'transaction.unexpected',
  'match.unlinked',
  'charge.cancelled',
  'charge.expired',
  'operation.unknown',
  'operation.succeeded',
  'operation.rejected',
  'operation.not_executed',
  'operation.needs_operator',
  'transfer.effective',
  'transfer.failed',
  'transfer.settled',
  'transfer.reversed',
  'bill_payment.scheduled',
  'bill_payment.failed',
  'bill_payment.settled',
  'bill_payment.reversed',
  'refund.settled',
  'refund.reversed',
  'break.opened',
  'break.resolved',
  'reconciliation.finished',
  'reconciliation.failed',
  'day_close.certified',
  'day_close.amended',
] as const;
export type EventType = (typeof eventTypes)[number];

export interface NewEvent {
  type: EventType;
  /** Written as exact JSON; amounts in reais, by `eventAmount`. */
  data: Record<string, unknown>;
}

/** An amount as an exact JSON number in reais. */
export function eventAmount(cents: bigint): LosslessNumber {
  return new LosslessNumber(formatReais(cents));
}
