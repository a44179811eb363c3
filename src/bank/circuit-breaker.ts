// Leaves a bank alone that does not answer, and comes back to it carefully: after some failures in a row calls
// are held back for a while, then one is let through to see. What is held back was not sent, so that nothing is
// lost by it. Times are of a clock that only goes forward.

export interface Breaker {
  /** Failures in a row. */
  failures: number;
  /** How often it opened since the last call that went well; 0 is closed. */
  openings: number;
  openUntilMs: number;
  isProbing: boolean;
  /** The bank itself asked to be left alone until then. */
  pausedUntilMs: number;
  isPauseALimit: boolean;
}

export type Entry =
  | { isLetIn: true; isProbe: boolean }
  | { isLetIn: false; retryAfterMs: number; isLimited: boolean };

const failuresToOpen = 5;
/** How long it stays open, the nth time. The last says how late a bank that is back is noticed at most. */
const openForMs = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** Those that come while one call is let through to see are told to come again after this. */
const whileProbingMs = 1_000;

export function closedBreaker(): Breaker {
  return {
    failures: 0,
    openings: 0,
    openUntilMs: 0,
    isProbing: false,
    pausedUntilMs: 0,
    isPauseALimit: false,
  };
}

/** Whether a call would be let in; nothing is changed. */
export function look(breaker: Breaker, nowMs: number): Entry {
  const pauseMs = breaker.pausedUntilMs - nowMs;
  if (pauseMs > 0)
    return { isLetIn: false, retryAfterMs: pauseMs, isLimited: breaker.isPauseALimit };
  if (breaker.openings === 0) return { isLetIn: true, isProbe: false };
  const openMs = breaker.openUntilMs - nowMs;
  if (openMs > 0) return { isLetIn: false, retryAfterMs: openMs, isLimited: false };
  return breaker.isProbing
    ? { isLetIn: false, retryAfterMs: whileProbingMs, isLimited: false }
    : { isLetIn: true, isProbe: true };
}

/** Lets a call in, or not. Who is let in says afterwards how it went. */
export function enter(breaker: Breaker, nowMs: number): Entry {
  const entry = look(breaker, nowMs);
  if (entry.isLetIn && entry.isProbe) breaker.isProbing = true;
  return entry;
}

/** The bank is there: whatever it said, it looked at the call. */
export function wentWell(breaker: Breaker): void {
  breaker.failures = 0;
  breaker.openings = 0;
  breaker.isProbing = false;
}

/** The call failed, as far as the bank is concerned; `atOnce` where asking again can only be worse. */
export function failed(
  breaker: Breaker,
  nowMs: number,
  { isProbe, atOnce = false }: { isProbe: boolean; atOnce?: boolean },
): void {
  breaker.failures += 1;
  if (isProbe) breaker.isProbing = false;
  // Calls that were under way when it opened tell nothing new: only the one that was let through to see does.
  if (breaker.openings > 0 && !isProbe) return;
  if (breaker.failures < failuresToOpen && !isProbe && !atOnce) return;
  const lasting = openForMs[Math.min(breaker.openings, openForMs.length - 1)] ?? 0;
  breaker.openings += 1;
  breaker.openUntilMs = nowMs + lasting;
}

/** The call never came to the bank, for a reason of our own. */
export function leftAside(breaker: Breaker, { isProbe }: { isProbe: boolean }): void {
  if (isProbe) breaker.isProbing = false;
}

/** The bank asked to be left alone; a shorter wish does not shorten a longer one. */
export function pause(breaker: Breaker, untilMs: number, isLimit: boolean): void {
  if (untilMs <= breaker.pausedUntilMs) return;
  breaker.pausedUntilMs = untilMs;
  breaker.isPauseALimit = isLimit;
}
