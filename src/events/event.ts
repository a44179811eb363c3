// The events that business systems receive, and how amounts are written in them.
import { isLosslessNumber, LosslessNumber } from 'lossless-json';
import type { Counterparty } from '../access/counterparties/resolution.js';
import { formatReais } from '../brazil/cents.js';
import { isJsonObject, parseJson, tolerantJson } from '../platform/json/exact-json.js';
import type { EventType } from './event-types.js';

/** The type of a test event, which is sent on request only and stored nowhere. */
export const testEventType = 'endpoint.test';

export const resourceKinds = [
  ...(['charge', 'transfer', 'bill_payment', 'refund', 'expected_payment', 'transaction'] as const),
  ...(['customer', 'dispute'] as const),
  ...(['operation', 'break', 'reconciliation', 'day_close', 'month', 'account'] as const),
] as const;

/**
 * What an event is about. Its `kind` and id are unique in the account. Events of one resource are
 * numbered, so that a receiver can order them.
 */
export interface EventResource {
  kind: (typeof resourceKinds)[number];
  id: string;
}

export interface NewEvent {
  type: EventType;
  resource: EventResource;
  /** Written as exact JSON; amounts in reais, by `eventAmount`. */
  data: Record<string, unknown>;
  /** Of the webhook that reported it, in whose trace it is recorded: not of the current work. */
  traceparent?: string | null;
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
