// Where on the statement an operation must show if it was executed. Nothing that has no such place can ever be
// proven not executed.
import type { Operation, OperationKind } from './operation.js';

/** A span of the bank's time. */
export interface Span {
  from: Date;
  until: Date;
}

/** How far the bank's clock and ours may disagree beyond what its answers tell. */
const skewMs = 30_000;

/**
 * The span that must be closed: from before the first sending until the last that can have its effect, and be
 * shown. What waits for an hour or a day at the bank has its effect only then.
 */
export function spanOfEffect(
  kind: Pick<OperationKind, 'latestEffect'>,
  operation: Operation,
  {
    firstStartedAt,
    lastSendBy,
    lastSeenAt,
  }: { firstStartedAt: Date; lastSendBy: Date; lastSeenAt: Date | null },
  visibilityBoundMs: number,
): Span {
  const latest = kind.latestEffect?.(operation, lastSendBy) ?? lastSendBy;
  // One movement that came late says that the others may: they have as long after it as after the sending.
  const others = [operation.effectiveFrom, lastSeenAt].map((effect) => effect ?? lastSendBy);
  const effects = [lastSendBy, latest, ...others];
  const last = Math.max(...effects.map((effect) => effect.getTime()));
  return {
    from: startOf(firstStartedAt),
    until: new Date(last + visibilityBoundMs),
  };
}

/** Before this, by the bank's clock, nothing can be the operation's. */
export function startOf(firstStartedAt: Date): Date {
  return new Date(firstStartedAt.getTime() - skewMs);
}

export function isClosedOver(
  { from, until }: Span,
  { closedFrom, closedUntil }: { closedFrom: Date | null; closedUntil: Date | null },
): boolean {
  return closedFrom !== null && closedUntil !== null && closedFrom <= from && until <= closedUntil;
}

/** How long until a reading can close the span: everything in it must have had its time to show. */
export function closableInMs({ until }: Span, bankTime: Date, visibilityBoundMs: number): number {
  return until.getTime() + visibilityBoundMs - bankTime.getTime();
}
