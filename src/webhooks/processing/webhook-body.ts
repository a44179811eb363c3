// Reads a webhook of the bank: its event type, and the id under which the statement will show the
// movement. The bank's published shapes conflict, so a body only has to be a JSON object.
import { isLosslessNumber } from 'lossless-json';
import { parseEndToEndId } from '../../brazil/end-to-end-id.js';
import { chargeStatusEventTypes } from '../../outbound/charges/charge-status.js';
import {
  customerEventTypes,
  type CustomerEventType,
} from '../../outbound/customers/customer-report.js';
import {
  disputeEventTypes,
  type DisputeEventType,
} from '../../statement/disputes/dispute-report.js';
import { maxIdLength } from '../../bank-contract/wire.js';
import { isJsonObject, parseJson, requestJson } from '../../platform/json/exact-json.js';

/**
 * Event types of notices: no line of the statement shows what they report. They are recorded by the
 * module that owns the matter, once.
 */
export const noticeEventTypes = [
  ...(Object.keys(customerEventTypes) as CustomerEventType[]),
  ...(Object.keys(disputeEventTypes) as DisputeEventType[]),
] as const;

/**
 * The event types that the service registers: all that are published of the bank. Its lists
 * conflict, so a bank may refuse some of them.
 */
export const registeredEventTypes = [
  'CHARGE_PAID',
  ...chargeStatusEventTypes,
  'PIX_RECEIVED',
  'PIX_PAYMENT_UPDATED',
  'PIX_REFUNDED',
  'PIX_REFUND_PAYMENT_UPDATED',
  'TRANSFER_INTERNAL_CREDITED',
  'TRANSFER_INTERNAL_DEBITED',
  'TRANSFER_EXTERNAL_CREDITED',
  'TRANSFER_EXTERNAL_DEBITED',
  'PIX_TRANSFERRED',
  'PIX_TRANSFER_FAILED',
  'TRANSACTION_CREATED',
  ...noticeEventTypes,
] as const;

// The event type in a body is not always the one that was registered.
const knownEventTypes = new Set<string>([
  ...registeredEventTypes,
  'CHARGE_PAID_V2',
  'PIX_PAYMENT_EFFECTIVE',
  'PIX_PAYMENT_ERROR',
  'PIX_REFUND_PAYMENT_EFFECTIVE',
  'PIX_REFUND_PAYMENT_ERROR',
]);

export type WebhookReference = {
  kind: 'nsu' | 'end_to_end_id' | 'correlation_id';
  value: string;
};

export interface WebhookBody {
  eventType: string;
  /**
   * Whether the event type is unknown or the body is unreadable. Such a webhook is stored, counted
   * and shown, never dropped.
   */
  isQuarantined: boolean;
  reference: WebhookReference | null;
}

/** The event type of a webhook without a valid event type. */
const unnamed = 'UNNAMED';

/**
 * `urlEventType` is the event type in the URL's path, or null. It takes precedence over the event
 * type in the body.
 */
export function readWebhookBody(body: Uint8Array, urlEventType: string | null): WebhookBody {
  const fields = readWebhookFields(body);
  if (!fields)
    return { eventType: eventTypeOf(urlEventType), isQuarantined: true, reference: null };
  const bodyEventType = typeof fields.eventType === 'string' ? fields.eventType : null;
  const eventType = eventTypeOf(urlEventType ?? bodyEventType);
  return {
    eventType,
    isQuarantined: !knownEventTypes.has(eventType),
    reference: referenceOf(fields),
  };
}

/** What identifies the request that a webhook reports: its idempotency key, or the bank's id. */
export function readRequestKey(body: Uint8Array): string | null {
  const { idempotencyKey, id } = readWebhookFields(body) ?? {};
  return idIn(idempotencyKey) ?? idIn(isLosslessNumber(id) ? id.value : id);
}

/** PostgreSQL cannot store the NUL character. */
function idIn(value: unknown): string | null {
  const text = typeof value === 'string' ? value.replaceAll('\0', '') : '';
  return text !== '' && text.length <= maxIdLength ? text : null;
}

/** The fields of a webhook; null if its body is no JSON object. */
export function readWebhookFields(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value = parseJson(body, requestJson);
    return isJsonObject(value) ? value : null;
  } catch {
    // A body that is not JSON, or has too many values, is stored as bytes and quarantined.
    return null;
  }
}

/**
 * An event type is used in paths and metric labels, so any text that is not a valid event type is
 * replaced.
 */
function eventTypeOf(text: string | null): string {
  return text !== null && /^\w{1,80}$/.test(text) ? text.toUpperCase() : unnamed;
}

// The most specific id first: an nsu identifies one line, an endToEndId one Pix, and a
// correlationId a charge that may be paid many times.
function referenceOf(fields: Record<string, unknown>): WebhookReference | null {
  const nsu = isLosslessNumber(fields.nsu) ? fields.nsu.value : fields.nsu;
  if (typeof nsu === 'string' && /^\d{1,18}$/.test(nsu)) return { kind: 'nsu', value: nsu };
  const { endToEndId, referenceId, correlationId } = fields;
  for (const id of [endToEndId, referenceId])
    if (typeof id === 'string' && parseEndToEndId(id)) return { kind: 'end_to_end_id', value: id };
  const value = idIn(correlationId);
  return value === null ? null : { kind: 'correlation_id', value };
}
