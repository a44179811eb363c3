const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** After each failed attempt; the contract tells no schedule, and a day is what a client may be down for. */
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

/** How long to wait after that many failed attempts; null when the delivery is given up. */
export function retryDelayMs(failedAttempts: number): number | null {
  return delaysMs[failedAttempts - 1] ?? null;
}
