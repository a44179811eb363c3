// What the addresses of the webhook pages hold: places in the list, and the id of a webhook, which
// is its event type with the hash of its body.
import { AppError } from '../../platform/errors.js';
import type {
  WebhookKey,
  WebhookPlace,
} from '../../webhooks/received/received-webhooks.queries.js';

export function webhookIdOf({ eventType, bodyHash }: WebhookKey): string {
  return `${eventType}.${bodyHash}`;
}

/** Throws `not_found` for what cannot be the id of a webhook. */
export function readWebhookId(text: string): WebhookKey {
  const [, eventType, bodyHash] = /^(\w{1,80})\.([0-9a-f]{64})$/.exec(text) ?? [];
  if (!eventType || !bodyHash) throw new AppError('not_found');
  return { eventType, bodyHash };
}

export function writePlace({ receivedAt, eventType, bodyHash }: WebhookPlace): string {
  return `${receivedAt.getTime()}.${eventType}.${bodyHash}`;
}

/** Null for what is no place: the list then begins at its start. */
export function readPlace(text: string | null): WebhookPlace | null {
  const [, time, eventType, bodyHash] =
    /^(\d{1,14})\.(\w{1,80})\.([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  if (!time || !eventType || !bodyHash) return null;
  return { receivedAt: new Date(Number(time)), eventType, bodyHash };
}
