import type { JudgedLine, Matched, Verdict } from '../../src/reconciliation/judged.js';

/** The verdicts of each line. */
export function byLine(verdicts: readonly Verdict[]): Map<bigint, Verdict[]> {
  const grouped = new Map<bigint, Verdict[]>();
  for (const verdict of verdicts)
    grouped.set(verdict.nsu, [...(grouped.get(verdict.nsu) ?? []), verdict]);
  return grouped;
}

/**
 * Whether each line ends in one verdict of its own amount, or in matches that add up to it, each to another expected
 * payment; a classification tells no amount.
 */
export function areWhole(lines: readonly JudgedLine[], verdicts: readonly Verdict[]): boolean {
  const judged = byLine(verdicts);
  if (judged.size !== lines.length) return false;
  return lines.every(({ nsu, amountCents }) => {
    const own = judged.get(nsu) ?? [];
    const [first] = own;
    if (first?.verdict === 'classified') return own.length === 1;
    if (own.length > 1 && !areMatchesToDifferentPayments(own)) return false;
    const told = own.map((verdict) =>
      verdict.verdict === 'classified' ? 0n : verdict.amountCents,
    );
    return told.reduce((sum, cents) => sum + cents, 0n) === amountCents;
  });
}

function areMatchesToDifferentPayments(verdicts: readonly Verdict[]): boolean {
  const matches = verdicts.filter((each): each is Matched => each.verdict === 'matched');
  const payments = new Set(matches.map(({ expectedPaymentId }) => expectedPaymentId));
  return payments.size === verdicts.length;
}
