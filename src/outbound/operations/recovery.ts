// How an operation with an unknown outcome is recovered, and how often. Evidence comes first. The
// request is resent only where the bank treats a repeat as the same request. Absence is proven if
// the statement can prove it. The operator is the last step. docs/reference/recovery.md shows these
// rules as a table.
import type { OperationKind } from './operation.js';

/** The reason of an attempt that the bank refused as a repeat: the operation is not resent. */
export const refusedRepeat = 'refused_a_repeat';

/** The reason of the attempt that stands for all that a restored database may have lost. */
export const restoredReason = 'restored';

export interface UnknownOperation {
  repeat: OperationKind['repeat'];
  /** Whether its request is still stored. */
  hasRequest: boolean;
  /** Whether the operation can be looked up at the bank by an id. */
  hasLookUp: boolean;
  /** Whether the operation sends money, so that the statement would show it. */
  isOutgoing: boolean;
  /** Whether the bank has shown that it knows the operation. */
  isKnownToBank: boolean;
  /** Whether the bank has refused a repeat: it is not resent again. */
  hasRefusedRepeat: boolean;
  /**
   * Whether the database was set back while the operation was unfinished. Its outcome may have been
   * reported, and the caller may have paid in another way: it sends no money again.
   */
  isRestored: boolean;
}

/** The parts of a bank profile that recovery depends on. */
export interface BankCapabilities {
  isRepeatSafe: boolean;
  hasStatusById: boolean;
  visibilityBoundMs: number | null;
}

/** The recovery methods besides the statement. The statement is always read first. */
export interface RecoveryMethods {
  canLookUp: boolean;
  canResend: boolean;
  /**
   * Whether absence from a closed period of the statement proves that the operation was not
   * executed.
   */
  canProveAbsence: boolean;
  /** The age at which an operator is asked. */
  askOperatorAfterMs: number;
}

const minuteMs = 60_000;
/** Bank outages last hours: while a method may still succeed, no operator is asked before this. */
const longPatienceMs = 24 * 60 * minuteMs;
/** Where only a statement line can show the outcome, the line has this long to appear. */
const shortPatienceMs = 15 * minuteMs;

export function recoveryMethodsFor(
  operation: UnknownOperation,
  bank: BankCapabilities,
): RecoveryMethods {
  // The secrets are not stored, so only an operator can resolve the operation.
  if (operation.repeat === 'never')
    return { canLookUp: false, canResend: false, canProveAbsence: false, askOperatorAfterMs: 0 };
  const canLookUp = bank.hasStatusById && operation.hasLookUp;
  const canResend =
    bank.isRepeatSafe &&
    operation.repeat === 'keyed' &&
    operation.hasRequest &&
    !operation.hasRefusedRepeat &&
    !(operation.isRestored && operation.isOutgoing);
  const canProveAbsence =
    bank.visibilityBoundMs !== null && operation.isOutgoing && !operation.isKnownToBank;
  const hasMethod = canLookUp || canResend || canProveAbsence;
  const askOperatorAfterMs = hasMethod ? longPatienceMs : shortPatienceMs;
  return { canLookUp, canResend, canProveAbsence, askOperatorAfterMs };
}

const minuteDelaysFromMs = 10 * minuteMs;
const longestDelaysFromMs = 60 * minuteMs;
const firstDelaysMs = [1_000, 2_000, 5_000, 10_000];

/** The delay until the next recovery, by the operation's age: short at first, and always finite. */
export function recoveryDelayMs(ageMs: number): number {
  if (ageMs >= longestDelaysFromMs) return 5 * minuteMs;
  if (ageMs >= minuteDelaysFromMs) return minuteMs;
  let elapsedMs = 0;
  for (const delayMs of firstDelaysMs) {
    elapsedMs += delayMs;
    if (ageMs < elapsedMs) return delayMs;
  }
  return 15_000;
}

/** The bank's Retry-After is honoured up to this, so that the outcome is still found in time. */
const longestRetryAfterMs = 60 * minuteMs;

export function recoveryDelayAfterResponseMs(ageMs: number, retryAfterMs = 0): number {
  return Math.max(recoveryDelayMs(ageMs), Math.min(retryAfterMs, longestRetryAfterMs));
}
