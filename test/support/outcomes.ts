import type { LineFacts, Matched, LineOutcome } from '../../src/reconciliation/line-outcome.js';

/** Groups the outcomes by line. */
export function groupOutcomesByLine(outcomes: readonly LineOutcome[]): Map<bigint, LineOutcome[]> {
  const grouped = new Map<bigint, LineOutcome[]>();
  for (const outcome of outcomes)
    grouped.set(outcome.nsu, [...(grouped.get(outcome.nsu) ?? []), outcome]);
  return grouped;
}

/**
 * Whether each line has one outcome of its own amount, or matches to different expected payments
 * that add up to its amount. A classification has no amount.
 */
export function areLinesFullyDecided(
  lines: readonly LineFacts[],
  outcomes: readonly LineOutcome[],
): boolean {
  const decided = groupOutcomesByLine(outcomes);
  if (decided.size !== lines.length) return false;
  return lines.every(({ nsu, amountCents }) => {
    const own = decided.get(nsu) ?? [];
    const [first] = own;
    if (first?.outcome === 'classified') return own.length === 1;
    if (own.length > 1 && !areMatchesToDifferentPayments(own)) return false;
    const amounts = own.map((outcome) =>
      outcome.outcome === 'classified' ? 0n : outcome.amountCents,
    );
    return amounts.reduce((sum, cents) => sum + cents, 0n) === amountCents;
  });
}

function areMatchesToDifferentPayments(outcomes: readonly LineOutcome[]): boolean {
  const matches = outcomes.filter((each): each is Matched => each.outcome === 'matched');
  const payments = new Set(matches.map(({ expectedPaymentId }) => expectedPaymentId));
  return payments.size === outcomes.length;
}
