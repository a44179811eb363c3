// What the addresses of the webhook pages hold: filters, places in the list, and the id of a
// webhook, which is its event type with the hash of its body.
import { z } from 'zod';
import { addDays, parsePlainDate } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { WebhookEventState } from '../../generated/service/enums.js';
import { AppError } from '../../platform/errors.js';
import type {
  WebhookFilters,
  WebhookKey,
  WebhookPlace,
} from '../../webhooks/received-webhooks.queries.js';

const plainDay = z.string().refine((text) => parsePlainDate(text) !== null);
const eventTypeText = /^\w{1,80}$/;

export const webhookQuery = z.object({
  state: z.enum(WebhookEventState).optional(),
  eventType: z.string().trim().toUpperCase().regex(eventTypeText).optional(),
  /** Days in São Paulo; both are included. */
  from: plainDay.optional(),
  to: plainDay.optional(),
});
export type WebhookQuery = z.output<typeof webhookQuery>;

export function readWebhookFilters({ state, eventType, from, to }: WebhookQuery): WebhookFilters {
  const startOf = (text: string | undefined, daysToAdd: number) => {
    const day = text === undefined ? null : parsePlainDate(text);
    return day === null ? undefined : statementDayStart(addDays(day, daysToAdd));
  };
  return { state, eventType, from: startOf(from, 0), until: startOf(to, 1) };
}

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
