// The filters of stored webhooks, as an address has them.
import { z } from 'zod';
import { addDays, parsePlainDate } from '../../brazil/calendar.js';
import { statementDayStart } from '../../brazil/statement-day.js';
import { WebhookEventState } from '../../generated/service/enums.js';
import type { WebhookFilters } from './received-webhooks.queries.js';

export const webhookStates = Object.values(WebhookEventState);
/** How many webhooks of a filter one action decides about. */
export const maxAtOnce = 500;

const plainDay = z.string().refine((text) => parsePlainDate(text) !== null);

export const webhookQuery = z.object({
  state: z.enum(WebhookEventState).optional(),
  eventType: z
    .string()
    .trim()
    .toUpperCase()
    .regex(/^\w{1,80}$/)
    .optional(),
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
