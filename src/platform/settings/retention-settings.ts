// The settings that say after how many days what is no longer needed is deleted.
import { z } from 'zod';

/** In days; 0: never. */
export type RetentionSettings = Readonly<
  Record<`${'webhookBody' | 'request' | 'idempotency' | 'event'}Days`, number>
>;

/** The limit keeps the time that is that long ago within PostgreSQL's times. */
const days = (name: string, standard: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `${name} must be a whole number, at least 0.`)
    .transform(Number)
    .refine((value) => value <= 36_500, `${name} must be at most 36500 days.`)
    .default(standard);

export const retentionSchemas = {
  WEBHOOK_BODY_RETENTION_DAYS: days('WEBHOOK_BODY_RETENTION_DAYS', 90),
  REQUEST_RETENTION_DAYS: days('REQUEST_RETENTION_DAYS', 400),
  IDEMPOTENCY_RETENTION_DAYS: days('IDEMPOTENCY_RETENTION_DAYS', 30),
  EVENT_RETENTION_DAYS: days('EVENT_RETENTION_DAYS', 400),
} as const;

type RetentionValues = z.output<z.ZodObject<typeof retentionSchemas>>;

export function readRetention(values: RetentionValues): RetentionSettings {
  return {
    webhookBodyDays: values.WEBHOOK_BODY_RETENTION_DAYS,
    requestDays: values.REQUEST_RETENTION_DAYS,
    idempotencyDays: values.IDEMPOTENCY_RETENTION_DAYS,
    eventDays: values.EVENT_RETENTION_DAYS,
  };
}
