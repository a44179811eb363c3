// A circuit breaker: after some consecutive failures it is open and denies calls for a while, then
// it lets one call through as a probe. A denied call is not sent, so it has no effect at the bank.
// All times are of a monotonic clock.

export interface Breaker {
  /** Consecutive failures. */
  failures: number;
  /** How often the breaker opened since the last success; 0 while it is closed. */
  openings: number;
  openUntilMs: number;
  isProbing: boolean;
  /** The end of a pause that the bank requested. */
  pausedUntilMs: number;
  /** Whether that pause is a limit on the number of calls. */
  isPauseALimit: boolean;
}

export type CallPermission =
  | { isAllowed: true; isProbe: boolean }
  | { isAllowed: false; retryAfterMs: number; isLimited: boolean };

const failuresToOpen = 5;
/**
 * How long the breaker stays open, by the number of openings. The last value limits how late the
 * service detects that the bank is available again.
 */
const openForMs = [1_000, 2_000, 4_000, 8_000, 15_000] as const;
/** When a call that is denied during a probe may be tried again. */
const retryDuringProbeMs = 1_000;

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

/** Whether a call would be allowed; changes nothing. */
export function checkCall(breaker: Breaker, nowMs: number): CallPermission {
  const pauseMs = breaker.pausedUntilMs - nowMs;
  if (pauseMs > 0)
    return { isAllowed: false, retryAfterMs: pauseMs, isLimited: breaker.isPauseALimit };
  if (breaker.openings === 0) return { isAllowed: true, isProbe: false };
  const openMs = breaker.openUntilMs - nowMs;
  if (openMs > 0) return { isAllowed: false, retryAfterMs: openMs, isLimited: false };
  return breaker.isProbing
    ? { isAllowed: false, retryAfterMs: retryDuringProbeMs, isLimited: false }
    : { isAllowed: true, isProbe: true };
}

export const breakerStates = ['closed', 'open', 'half_open', 'paused'] as const;
export type BreakerState = (typeof breakerStates)[number];

/** `half_open`: the next call is a probe, or one is under way. `paused`: at the bank's request. */
export function breakerStateOf(breaker: Breaker, nowMs: number): BreakerState {
  if (breaker.pausedUntilMs > nowMs) return 'paused';
  if (breaker.openings === 0) return 'closed';
  return breaker.openUntilMs > nowMs ? 'open' : 'half_open';
}

/** Allows or denies a call. The result of an allowed call must be recorded afterwards. */
export function beginCall(breaker: Breaker, nowMs: number): CallPermission {
  const permission = checkCall(breaker, nowMs);
  if (permission.isAllowed && permission.isProbe) breaker.isProbing = true;
  return permission;
}

/** Records that the bank processed the call, whatever the outcome: the bank is available. */
export function recordSuccess(breaker: Breaker): void {
  breaker.failures = 0;
  breaker.openings = 0;
  breaker.isProbing = false;
}

/**
 * Records that the bank is unavailable. With `opensAtOnce`, the breaker opens at the first failure,
 * because another call could cause harm.
 */
export function recordFailure(
  breaker: Breaker,
  nowMs: number,
  { isProbe, opensAtOnce = false }: { isProbe: boolean; opensAtOnce?: boolean },
): void {
  breaker.failures += 1;
  if (isProbe) breaker.isProbing = false;
  // A call that was in progress when the breaker opened shows nothing new: only the probe counts.
  if (breaker.openings > 0 && !isProbe) return;
  if (breaker.failures < failuresToOpen && !isProbe && !opensAtOnce) return;
  const openMs = openForMs[Math.min(breaker.openings, openForMs.length - 1)] ?? 0;
  breaker.openings += 1;
  breaker.openUntilMs = nowMs + openMs;
}

/** Records that the service itself did not send the call. */
export function recordNotSent(breaker: Breaker, { isProbe }: { isProbe: boolean }): void {
  if (isProbe) breaker.isProbing = false;
}

/**
 * Pauses calls until `untilMs`, at the bank's request. A shorter pause does not shorten a longer
 * pause.
 */
export function pause(breaker: Breaker, untilMs: number, isLimit: boolean): void {
  if (untilMs <= breaker.pausedUntilMs) return;
  breaker.pausedUntilMs = untilMs;
  breaker.isPauseALimit = isLimit;
}
