import type { LineFacts, Matched, LineOutcome } from '../../src/reconciliation/line-outcome.js';

/** The verdicts of each line. */
export function byLine(outcomes: readonly LineOutcome[]): Map<bigint, LineOutcome[]> {
  const grouped = new Map<bigint, LineOutcome[]>();
  for (const outcome of outcomes)
    grouped.set(outcome.nsu, [...(grouped.get(outcome.nsu) ?? []), outcome]);
  return grouped;
}

/**
 * Whether each line ends in one verdict of its own amount, or in matches that add up to it, each to another expected
 * payment; a classification tells no amount.
 */
export function areWhole(lines: readonly LineFacts[], outcomes: readonly LineOutcome[]): boolean {
  const decided = byLine(outcomes);
  if (decided.size !== lines.length) return false;
  return lines.every(({ nsu, amountCents }) => {
    const own = decided.get(nsu) ?? [];
    const [first] = own;
    if (first?.outcome === 'classified') return own.length === 1;
    if (own.length > 1 && !areMatchesToDifferentPayments(own)) return false;
    const told = own.map((outcome) =>
      outcome.outcome === 'classified' ? 0n : outcome.amountCents,
    );
    return told.reduce((sum, cents) => sum + cents, 0n) === amountCents;
  });
}

function areMatchesToDifferentPayments(outcomes: readonly LineOutcome[]): boolean {
  const matches = outcomes.filter((each): each is Matched => each.outcome === 'matched');
  const payments = new Set(matches.map(({ expectedPaymentId }) => expectedPaymentId));
  return payments.size === outcomes.length;
}
