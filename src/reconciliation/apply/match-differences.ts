// How the matches that are stored of lines differ from those that were decided.
import type { MatchAmounts, StoredMatch } from './decision-writer.queries.js';
import type { Decision } from '../decide/decide.js';
import type { LineAllocation } from '../decide/model.js';
import type { AllocationResult } from '../decide/totals.js';

/** Whether a line was matched to the same part of the same payment, by whatever rule. */
export function isSamePart(stored: StoredMatch, match: LineAllocation): boolean {
  return (
    stored.nsu === match.nsu &&
    stored.expectedPaymentId === match.expectedPaymentId &&
    stored.amountCents === match.amountCents &&
    stored.role === match.role
  );
}

/** Whether what is stored of a line is what it is matched to now, by the same rule. */
export function isSame(stored: StoredMatch[], matches: readonly LineAllocation[]): boolean {
  if (stored.length !== matches.length) return false;
  return matches.every((match) =>
    stored.some(
      (one) =>
        isSamePart(one, match) &&
        one.rule === match.rule &&
        one.ruleId === (match.declared?.ruleId ?? null) &&
        one.ruleVersion === (match.declared?.version ?? null),
    ),
  );
}

export function amountsOf(result: AllocationResult | undefined): Omit<MatchAmounts, 'id'> {
  return { owedCents: result?.owedCents ?? null, refundedCents: result?.refundedCents ?? 0n };
}

/** The amounts of unchanged matches that are not as stored. */
export function changedAmounts(
  stored: ReadonlyMap<bigint, StoredMatch[]>,
  { component, results }: Pick<Decision, 'component' | 'results'>,
): MatchAmounts[] {
  return [...stored].flatMap(([nsu, matches]) => {
    const allocations = component.allocationsOfLine(nsu);
    if (!isSame(matches, allocations)) return [];
    return matches.flatMap((match) => {
      const allocation = allocations.find((one) => isSamePart(match, one));
      const now = amountsOf(allocation && results.get(allocation));
      const isUnchanged =
        now.owedCents === match.owedCents && now.refundedCents === match.refundedCents;
      return isUnchanged ? [] : [{ id: match.id, ...now }];
    });
  });
}
