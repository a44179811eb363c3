// The period of the statement in which an operation must show if it was executed. Only an operation
// whose period is closed can be proven not executed.
import type { Operation, OperationKind } from './operation.js';

/** A period of the bank's time, from inclusive, until exclusive. */
export interface EffectPeriod {
  from: Date;
  until: Date;
}

/** How far the bank's clock and ours may disagree beyond what the bank's responses show. */
const skewMs = 30_000;

/**
 * The period that must be closed: from before the first attempt until the latest possible effect is
 * visible. An operation that waits for an hour or a day at the bank takes effect only then.
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
  // When one movement appears late, the others may too: they have as long after it as after the
  // last attempt.
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
  return new Date(firstStartedAt.getTime() - skewMs);
}

export function isInClosedPeriod(
  { from, until }: EffectPeriod,
  { closedFrom, closedUntil }: { closedFrom: Date | null; closedUntil: Date | null },
): boolean {
  return closedFrom !== null && closedUntil !== null && closedFrom <= from && until <= closedUntil;
}

/** How long until the period can be closed: everything in it must have had time to show. */
export function closableInMs(
  { until }: EffectPeriod,
  bankTime: Date,
  visibilityBoundMs: number,
): number {
  return until.getTime() + visibilityBoundMs - bankTime.getTime();
}
