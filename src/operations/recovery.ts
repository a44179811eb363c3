// What can be done about an operation whose outcome is not known, and how often. Evidence first; sending again only
// where the bank takes a repeat for the same; a proof that it was not executed where the statement can give one; and
// when none of these helps, a person. docs/recovery.md is this file as a table.
import type { OperationKind } from './operation.js';

export interface UnknownOperation {
  repeat: OperationKind['repeat'];
  /** Whether its kind can be asked for by an id. */
  hasLookUp: boolean;
  /** Whether money goes out, so that the statement would show it. */
  isOutgoing: boolean;
  /** The bank has shown that it knows it. */
  isKnownToBank: boolean;
  /** The bank refused to take a repeat: it is not asked again. */
  hasRefusedRepeat: boolean;
}

export interface BankFacts {
  isRepeatSafe: boolean;
  hasStatusById: boolean;
  visibilityBoundMs: number | null;
}

/** Beside the statement, which is looked at in any case, and first. */
export interface Ways {
  canLookUp: boolean;
  canResend: boolean;
  /** Whether its absence from a closed span of the statement would prove that it was not executed. */
  canProveAbsence: boolean;
  /** A person is asked after this long. */
  patienceMs: number;
}

const minuteMs = 60_000;
/** Banks have bad hours: as long as something can still tell, nobody is asked before this. */
const longPatienceMs = 24 * 60 * minuteMs;
/** Where only a line of the statement could tell, it has this long to come. */
const shortPatienceMs = 15 * minuteMs;

export function waysOf(operation: UnknownOperation, bank: BankFacts): Ways {
  // Its secrets are gone, and nobody else may be asked for them.
  if (operation.repeat === 'never')
    return { canLookUp: false, canResend: false, canProveAbsence: false, patienceMs: 0 };
  const canLookUp = bank.hasStatusById && operation.hasLookUp;
  const canResend =
    bank.isRepeatSafe && operation.repeat === 'keyed' && !operation.hasRefusedRepeat;
  const canProveAbsence =
    bank.visibilityBoundMs !== null && operation.isOutgoing && !operation.isKnownToBank;
  const canIdentify = canLookUp || canResend || canProveAbsence;
  const patienceMs = canIdentify ? longPatienceMs : shortPatienceMs;
  return { canLookUp, canResend, canProveAbsence, patienceMs };
}

const eagerForMs = 10 * minuteMs;
const steadyForMs = 60 * minuteMs;
const eagerPausesMs = [1_000, 2_000, 5_000, 10_000];

/** How long to wait until the next look, by the operation's age: often at first, and never not at all. */
export function pauseAtMs(ageMs: number): number {
  if (ageMs >= steadyForMs) return 5 * minuteMs;
  if (ageMs >= eagerForMs) return minuteMs;
  let since = 0;
  for (const pauseMs of eagerPausesMs) {
    since += pauseMs;
    if (ageMs < since) return pauseMs;
  }
  return 15_000;
}

/** A bank may ask us to wait, but not for so long that nobody would learn of it. */
const longestAskedPauseMs = 60 * minuteMs;

export function pauseAfterAnswerMs(ageMs: number, retryAfterMs = 0): number {
  return Math.max(pauseAtMs(ageMs), Math.min(retryAfterMs, longestAskedPauseMs));
}
