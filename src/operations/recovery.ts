// What to do about an operation whose outcome is not known. Evidence first; sending again only where the bank
// takes a repeat for the same; and when neither helps, a person.
export interface UnknownOperation {
  /** Since it was accepted, in milliseconds. */
  ageMs: number;
  /** A line of the statement was matched to what it expects. */
  isSeenOnStatement: boolean;
}

export type RecoveryStep =
  | { step: 'succeed' }
  | { step: 'resend' }
  | { step: 'wait'; delayMs: number }
  | { step: 'ask_operator' };

/** Nobody is asked before this: banks have bad hours. */
export const patienceMs = 24 * 3_600_000;

const pausesMs = [1_000, 2_000, 5_000, 15_000, 60_000, 300_000];

/** How long to wait after the nth attempt. */
export function pauseAfterMs(attempts: number): number {
  return pausesMs[Math.min(attempts, pausesMs.length) - 1] ?? pausesMs[0] ?? 1_000;
}

export function decideRecovery(operation: UnknownOperation, isRepeatSafe: boolean): RecoveryStep {
  if (operation.isSeenOnStatement) return { step: 'succeed' };
  if (operation.ageMs > patienceMs) return { step: 'ask_operator' };
  if (isRepeatSafe) return { step: 'resend' };
  return { step: 'wait', delayMs: 60_000 };
}
