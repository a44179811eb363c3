// Compares what a version of a rule would decide with the current outcomes. Pure.
import { z } from 'zod';
import type { Decision } from '../decide/decide.js';
import type { LineAllocation } from '../decide/model.js';
import type { HistoryLine } from './rule-trials.queries.js';
import { bigintText } from '../load/stored-rule.js';
import {
  changesStored,
  isSameOutcome,
  outcomeInTrial,
  outcomeNow,
  storedChanges,
  type TrialChange,
  type TrialFigure,
  type TrialOutcome,
} from './trial-changes.js';

/** How many nsus each figure lists. */
const sampleSize = 20;

class Sample {
  count = 0;
  readonly nsus: bigint[] = [];

  add(nsu: bigint): void {
    this.count += 1;
    if (this.nsus.length < sampleSize) this.nsus.push(nsu);
  }
}

const storedSample = z.object({ count: z.int(), nsus: z.array(bigintText) });

export const storedResult = z.object({
  lines: z.int(),
  matchedMore: storedSample,
  classifiedMore: storedSample,
  changed: storedSample,
  less: storedSample,
  ambiguous: storedSample,
  conflicts: storedSample,
  tolerated: z.object({ count: z.int(), cents: bigintText }),
  // Trials from before net settlements have none.
  fees: z.object({ count: z.int(), cents: bigintText }).default({ count: 0, cents: 0n }),
});

export class TrialResult {
  lines = 0;
  readonly matchedMore = new Sample();
  readonly classifiedMore = new Sample();
  readonly changed = new Sample();
  readonly less = new Sample();
  readonly ambiguous = new Sample();
  readonly conflicts = new Sample();
  readonly tolerated = { count: 0, cents: 0n };
  /** Of sales by net settlements. */
  readonly fees = { count: 0, cents: 0n };

  private readonly changes: TrialChange[] = [];

  constructor(private readonly ruleId: string) {}

  /** Adds a line that rules may decide, with the decision of the trial. */
  add(line: HistoryLine, decision: Decision): void {
    const { nsu, isByRule, breakKind } = line;
    const { component, results } = decision;
    const count = (figure: TrialFigure) =>
      this.addChange(figure, line, outcomeInTrial(nsu, decision));
    const allocations = component.allocationsOfLine(nsu);
    const outcome = component.unmatched.get(nsu);
    const isAmbiguous = outcome?.outcome === 'break' && outcome.kind === 'ambiguous';
    if (isAmbiguous && breakKind !== 'ambiguous') count('ambiguous');
    const rule =
      outcome?.outcome === 'classified' ? outcome.declared : (allocations[0]?.declared ?? null);
    if (isByRule && rule === null) count('less');
    else if (isByRule && !isSameOutcome(outcomeNow(line), outcomeInTrial(nsu, decision)))
      count('changed');
    if (rule?.ruleId !== this.ruleId) return;
    for (const allocation of allocations)
      if (allocation.isTolerated && results.get(allocation)?.settlement === 'settled')
        this.tolerate(allocation);
    if (!isByRule) count(allocations.length > 0 ? 'matchedMore' : 'classifiedMore');
  }

  /** Adds a line that a reference or a person matched, and that the rule would match otherwise. */
  addConflict(line: HistoryLine, after: TrialOutcome): void {
    this.addChange('conflicts', line, after);
  }

  toStored() {
    return {
      result: z.encode(storedResult, this),
      changes: z.encode(storedChanges, this.changes),
    };
  }

  private addChange(figure: TrialFigure, line: HistoryLine, after: TrialOutcome): void {
    const { nsu } = line;
    this[figure].add(nsu);
    if (this[figure].count <= changesStored)
      this.changes.push({ nsu, figure, before: outcomeNow(line), after });
  }

  private tolerate({ evidence }: LineAllocation): void {
    const { differenceCents = '0', fee } = evidence as { differenceCents?: string; fee?: unknown };
    const cents = BigInt(differenceCents);
    if (cents === 0n) return;
    const total = fee === undefined ? this.tolerated : this.fees;
    total.count += 1;
    total.cents += cents < 0n ? -cents : cents;
  }
}
