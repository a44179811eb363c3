// What can be told from a webhook of the bank: its kind, and the id by which the statement will name the
// movement. Its published shapes conflict, so that nothing is required of a body but to be JSON.
import { isLosslessNumber } from 'lossless-json';
import { parseEndToEndId } from '../brazil/end-to-end-id.js';
import { isJsonObject, parseJson } from '../platform/exact-json.js';

/** Kinds that tell that a charge ended otherwise than by money: what became of it is read at the bank. */
export const chargeNewsTypes = ['CHARGE_OVERDUE', 'CHARGE_CANCELLED', 'CHARGE_VOIDED'] as const;

/** The kinds that the service asks the bank for: of money that moved, and of charges. */
export const registeredEventTypes = [
  'CHARGE_PAID',
  ...chargeNewsTypes,
  'PIX_RECEIVED',
  'PIX_PAYMENT_UPDATED',
  'PIX_REFUNDED',
  'PIX_REFUND_PAYMENT_UPDATED',
  'TRANSFER_INTERNAL_CREDITED',
  'TRANSFER_INTERNAL_DEBITED',
  'TRANSFER_EXTERNAL_CREDITED',
  'TRANSFER_EXTERNAL_DEBITED',
] as const;

// The name that is subscribed is not always the one that the body bears.
const knownEventTypes = new Set<string>([
  ...registeredEventTypes,
  'CHARGE_PAID_V2',
  'PIX_PAYMENT_EFFECTIVE',
  'PIX_PAYMENT_ERROR',
  'PIX_REFUND_PAYMENT_EFFECTIVE',
  'PIX_REFUND_PAYMENT_ERROR',
  'PIX_TRANSFERRED',
  'PIX_TRANSFER_FAILED',
  'TRANSACTION_CREATED',
]);

export type WebhookReference = {
  kind: 'nsu' | 'end_to_end_id' | 'correlation_id';
  value: string;
};

export interface Notice {
  eventType: string;
  /** Kept, counted and shown, whatever it is; never dropped. */
  isQuarantined: boolean;
  reference: WebhookReference | null;
}

const unnamed = 'UNNAMED';

/** Reads a webhook; `urlEventType` is the kind of the address that it was sent to, if that has one. */
export function readWebhookBody(body: Uint8Array, urlEventType: string | null): Notice {
  const fields = readObject(body);
  if (!fields)
    return { eventType: nameOf(urlEventType ?? unnamed), isQuarantined: true, reference: null };
  const told = typeof fields.eventType === 'string' ? fields.eventType : null;
  const eventType = nameOf(urlEventType ?? told ?? unnamed);
  return {
    eventType,
    isQuarantined: !knownEventTypes.has(eventType),
    reference: referenceOf(fields),
  };
}

function readObject(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value = parseJson(body);
    return isJsonObject(value) ? value : null;
  } catch {
    // A body that is no JSON is kept as its bytes and quarantined.
    return null;
  }
}

/** A kind goes into paths and labels: what does not look like one is not repeated. */
function nameOf(text: string): string {
  return /^\w{1,80}$/.test(text) ? text.toUpperCase() : unnamed;
}

// The surest first: an nsu is one line, an endToEndId one Pix, a correlationId may be paid many times.
function referenceOf(fields: Record<string, unknown>): WebhookReference | null {
  const nsu = isLosslessNumber(fields.nsu) ? fields.nsu.value : fields.nsu;
  if (typeof nsu === 'string' && /^\d{1,18}$/.test(nsu)) return { kind: 'nsu', value: nsu };
  const { endToEndId, referenceId, correlationId } = fields;
  for (const id of [endToEndId, referenceId])
    if (typeof id === 'string' && parseEndToEndId(id)) return { kind: 'end_to_end_id', value: id };
  const named = typeof correlationId === 'string' ? correlationId.replaceAll('\0', '') : '';
  if (named !== '' && named.length <= 100) return { kind: 'correlation_id', value: named };
  return null;
}
