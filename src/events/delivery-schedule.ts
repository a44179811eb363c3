// When a delivery is tried again: the schedule of Standard Webhooks, with jitter, so that an endpoint that
// comes back is not met by everything at once.
const pausesSeconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The longest that an endpoint's Retry-After is taken at its word, in seconds. */
const maxRetryAfterSeconds = 86_400;

/** Pause after the nth failed attempt in milliseconds, or null when it was the last. `random` is from 0 to 1. */
export function pauseAfterAttemptMs(
  attempts: number,
  retryAfterSeconds: number | null,
  random: number,
): number | null {
  const planned = pausesSeconds[attempts - 1];
  if (planned === undefined) return null;
  const asked = Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds);
  return Math.round(Math.max(planned * (1 + random * 0.1), asked) * 1_000);
}
