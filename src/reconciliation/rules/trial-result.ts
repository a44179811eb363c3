// Compares what a version of a rule would decide with the current outcomes. Pure.
import { z } from 'zod';
import type { RuleDecision } from '../decide/rule-decision.js';
import type { HistoryLine } from './rule-trials.queries.js';
import { bigintText } from './stored-rule.js';

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
});

export class TrialResult {
  lines = 0;
  readonly matchedMore = new Sample();
  readonly classifiedMore = new Sample();
  readonly less = new Sample();
  readonly ambiguous = new Sample();
  readonly conflicts = new Sample();
  readonly tolerated = { count: 0, cents: 0n };

  constructor(private readonly ruleId: string) {}

  /** Adds a line with its current outcome and the decision of the trial. */
  add({ nsu, isByRule, breakKind }: CurrentOutcome, decision: RuleDecision): void {
    const isOfTriedRule = decision.outcome !== 'nothing' && decision.rule.ruleId === this.ruleId;
    if (decision.outcome === 'matched' && isOfTriedRule) this.tolerate(decision);
    if (isByRule && (decision.outcome === 'nothing' || decision.outcome === 'ambiguous'))
      this.less.add(nsu);
    if (decision.outcome === 'ambiguous' && breakKind !== 'ambiguous') this.ambiguous.add(nsu);
    if (isByRule || !isOfTriedRule) return;
    if (decision.outcome === 'matched') this.matchedMore.add(nsu);
    if (decision.outcome === 'classified') this.classifiedMore.add(nsu);
  }

  toStored() {
    return z.encode(storedResult, this);
  }

  private tolerate({ payments }: Extract<RuleDecision, { outcome: 'matched' }>): void {
    for (const { differenceCents, owedCents, expected, amountCents } of payments) {
      const isWhole = owedCents === null || owedCents === expected.paidCents + amountCents;
      if (differenceCents === 0n || !isWhole) continue;
      this.tolerated.count += 1;
      this.tolerated.cents += differenceCents < 0n ? -differenceCents : differenceCents;
    }
  }
}
