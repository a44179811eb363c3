// Events as they arrive at an endpoint, signed per Standard Webhooks.
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { SignatureError } from './errors.js';
import { readJson } from './exact-json.js';
import { eventPlaces, type KnownEvent } from './generated/resources.js';

/** Any text that is no known type: with `string`, a comparison of `type` would exclude nothing. */
declare enum OtherType {
  Other = '',
}

/** An event of a type that this version does not know. */
export interface UnknownEvent extends Omit<KnownEvent, 'type' | 'data'> {
  type: OtherType;
  data: unknown;
}

/** `id` identifies a repeat. `type` says what `data` is. */
export type ConciliaEvent = { id: string } & (KnownEvent | UnknownEvent);

export type EventHeaders =
  Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies the signature of a webhook, and returns its event. `body` is the body as it arrived.
 * While a secret is rotated, give both. Throws SignatureError.
 */
export function constructEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  secrets: string | readonly string[],
): ConciliaEvent {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = signedHeaders(headers);
  verify(text, signed, [secrets].flat());
  const event = readJson(text, eventPlaces) as KnownEvent;
  return { id: signed['webhook-id'] as string, ...event };
}

function verify(text: string, headers: Record<string, string>, secrets: readonly string[]): void {
  let refusal: unknown = new Error('there is no secret');
  for (const secret of secrets)
    try {
      new Webhook(secret).verify(text, headers, { jsonParse: false });
      return;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error; // a malformed secret
      refusal = error;
    }
  throw new SignatureError(refusal);
}

function signedHeaders(headers: EventHeaders): Record<string, string> {
  const all = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const read = all.map(([name, value]) => [name.toLowerCase(), [value].flat()[0] ?? '']);
  return Object.fromEntries(read) as Record<string, string>;
}
