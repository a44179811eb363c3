// The period of the statement in which the lines of an operation must appear if it was executed.
// Only an operation whose period is closed can be proven not executed.
import type { ClosedPeriod } from '../../statement/lines/closing.js';
import type { Operation, OperationKind } from './operation.js';

/** A period of the bank's time, from inclusive, until exclusive. */
export interface EffectPeriod {
  from: Date;
  until: Date;
}

/** How far the bank's clock and ours may disagree beyond what the bank's responses show. */
export const clockToleranceMs = 30_000;

/**
 * The period that must be closed: from before the first attempt until the latest possible effect is
 * visible. An operation that the bank schedules for later takes effect only at that time.
 */
export function effectPeriodOf(
  kind: Pick<OperationKind, 'latestEffectAt'>,
  operation: Operation,
  {
    firstStartedAt,
    lastSendBy,
    lastMatchedAt,
  }: { firstStartedAt: Date; lastSendBy: Date; lastMatchedAt: Date | null },
  visibilityBoundMs: number,
): EffectPeriod {
  const latest = kind.latestEffectAt?.(operation, lastSendBy) ?? lastSendBy;
  // When one movement appears late, the others may be late too. So they have the same time to
  // appear after that match as after the last attempt.
  const others = [operation.effectiveFrom, lastMatchedAt].map((time) => time ?? lastSendBy);
  const effects = [lastSendBy, latest, ...others];
  const last = Math.max(...effects.map((effect) => effect.getTime()));
  return {
    from: earliestEffectAt(firstStartedAt),
    until: new Date(last + visibilityBoundMs),
  };
}

/** Before this time, by the bank's clock, nothing can be an effect of the operation. */
export function earliestEffectAt(firstStartedAt: Date): Date {
  return new Date(firstStartedAt.getTime() - clockToleranceMs);
}

export function isInClosedPeriod(
  { from, until }: EffectPeriod,
  { closedFrom, closedUntil }: ClosedPeriod,
): boolean {
  return closedFrom !== null && closedUntil !== null && closedFrom <= from && until <= closedUntil;
}

/** How long until the period can be closed: all of its lines must have had time to appear. */
export function closableInMs(
  { until }: EffectPeriod,
  bankTime: Date,
  visibilityBoundMs: number,
): number {
  return until.getTime() + visibilityBoundMs - bankTime.getTime();
}
