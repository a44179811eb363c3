const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * The delay after each failed attempt. The contract has no schedule; a client may be down for a
 * day.
 */
const delaysMs = [
  second,
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
];

/** The delay after `failedAttempts` attempts; null when the delivery is dead-lettered. */
export function retryDelayMs(failedAttempts: number): number | null {
  return delaysMs[failedAttempts - 1] ?? null;
}
