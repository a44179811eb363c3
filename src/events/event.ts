// The events that business systems receive, and how amounts are written in them.
import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import type { Counterparty } from '../counterparties/resolution.js';
import { formatReais } from '../money/cents.js';
import { isJsonObject, parseJson, tolerantJson } from '../platform/exact-json.js';

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
  'operation.awaiting_approval',
  'operation.approved',
  'operation.declined',
  'operation.expired',
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
  'expected_payment.paid',
  'expected_payment.partially_paid',
  'expected_payment.overpaid',
  'expected_payment.refunded',
  'expected_payment.reversed',
  'expected_payment.missing',
  'expected_payment.amended',
  'expected_payment.cancelled',
  'customer.approved',
  'customer.refused',
  'dispute.reported',
  'dispute.accepted',
  'dispute.rejected',
  'break.opened',
  'break.resolved',
  'reconciliation.finished',
  'reconciliation.failed',
  'day_close.certified',
  'day_close.amended',
  'account.stopped',
  'account.released',
  'account.reconcile_only',
] as const;
export type EventType = (typeof eventTypes)[number];

/** The type of a test event, which is sent on request only and stored nowhere. */
export const testEventType = 'endpoint.test';

/**
 * What an event is about. Its `kind` and id are unique in the account. Events of one resource are
 * numbered, so that a receiver can order them.
 */
export interface EventResource {
  kind:
    | ('charge' | 'transfer' | 'bill_payment' | 'refund' | 'expected_payment' | 'transaction')
    | ('customer' | 'dispute')
    | ('operation' | 'break' | 'reconciliation' | 'day_close' | 'account');
  id: string;
}

export interface NewEvent {
  type: EventType;
  resource: EventResource;
  /** Written as exact JSON; amounts in reais, by `eventAmount`. */
  data: Record<string, unknown>;
}

/** An amount as an exact JSON number in reais. */
export function eventAmount(cents: bigint): LosslessNumber {
  return new LosslessNumber(formatReais(cents));
}

/** The line that an event reports; null if it reports none. */
export function nsuOfEvent(data: string): bigint | null {
  // Most events report no line: they are not parsed.
  if (!data.includes('"nsu"')) return null;
  const fields = parseJson(data, tolerantJson);
  const nsu = isJsonObject(fields) ? fields.nsu : null;
  return isLosslessNumber(nsu) ? BigInt(nsu.value) : null;
}

/** The data of an event with its counterparty as the last field. */
export function withCounterparty(data: string, counterparty: Counterparty): string {
  return `${data.slice(0, -1)},"counterparty":${JSON.stringify(counterparty)}}`;
}
