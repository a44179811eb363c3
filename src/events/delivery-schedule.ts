// When a delivery is retried: the schedule of Standard Webhooks, with jitter, so that an endpoint
// that recovers does not get all its deliveries at once.

/** How long one request may last, from the look-up of the name to the response's headers. */
export const endpointTimeoutMs = 15_000;

/** How deliveries to one endpoint are made: of events, and of the bank's webhooks. */
export const deliveryLimits = {
  /** Longer than an attempt can last. */
  leaseMs: endpointTimeoutMs + 5_000,
  batchSize: 10,
  maxRunMs: 20_000,
} as const;

/** The delay after each failed attempt. The attempt after the last delay is the last attempt. */
const delaysSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The longest Retry-After of an endpoint that is respected. */
const maxRetryAfterSeconds = 86_400;

/**
 * Delay after the nth failed attempt in milliseconds, or null after the last one. `random` is from
 * 0 to 1 and adds up to a tenth. A Retry-After extends the delay but adds no attempt.
 */
export function delayAfterAttemptMs(
  attempts: number,
  retryAfterSeconds: number | null,
  random: number,
): number | null {
  const planned = delaysSeconds[attempts - 1];
  if (planned === undefined) return null;
  const requested = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds);
  return Math.round(Math.max(planned * (1 + random * 0.1), requested) * 1_000);
}
