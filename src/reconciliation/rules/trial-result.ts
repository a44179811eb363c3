// Compares what a version of a rule would decide with the current outcomes. Pure.
import { z } from 'zod';
import type { Decision } from '../decide/decide.js';
import type { LineAllocation } from '../decide/model.js';
import type { HistoryLine } from './rule-trials.queries.js';
import { bigintText } from '../stored-rule.js';

/** The current outcome of a line that rules may decide. */
type CurrentOutcome = Pick<HistoryLine, 'nsu' | 'isByRule' | 'breakKind'>;

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
  readonly less = new Sample();
  readonly ambiguous = new Sample();
  readonly conflicts = new Sample();
  readonly tolerated = { count: 0, cents: 0n };
  /** Of sales by net settlements. */
  readonly fees = { count: 0, cents: 0n };

  constructor(private readonly ruleId: string) {}

  /** Adds a line with its current outcome and the decision of the trial. */
  add({ nsu, isByRule, breakKind }: CurrentOutcome, { component, results }: Decision): void {
    const allocations = component.allocationsOfLine(nsu);
    const outcome = component.unmatched.get(nsu);
    const isAmbiguous = outcome?.outcome === 'break' && outcome.kind === 'ambiguous';
    if (isAmbiguous && breakKind !== 'ambiguous') this.ambiguous.add(nsu);
    const rule =
      outcome?.outcome === 'classified' ? outcome.declared : (allocations[0]?.declared ?? null);
    if (isByRule && rule === null) this.less.add(nsu);
    if (rule?.ruleId !== this.ruleId) return;
    for (const allocation of allocations)
      if (allocation.isTolerated && results.get(allocation)?.settlement === 'settled')
        this.tolerate(allocation);
    if (!isByRule) (allocations.length > 0 ? this.matchedMore : this.classifiedMore).add(nsu);
  }

  toStored() {
    return z.encode(storedResult, this);
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
