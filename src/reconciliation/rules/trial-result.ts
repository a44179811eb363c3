// Compares what a version of a rule would decide with the current outcomes. Pure.
import type { RuleDecision } from '../decide/rule-decision.js';

/** How many nsus each figure lists. */
const sampleSize = 20;

export class Sample {
  count = 0;
  readonly nsus: bigint[] = [];

  add(nsu: bigint): void {
    this.count += 1;
    if (this.nsus.length < sampleSize) this.nsus.push(nsu);
  }
}

/** The current outcome of a line that rules may decide. */
export interface CurrentOutcome {
  nsu: bigint;
  isByRule: boolean;
  breakKind: 'unexpected' | 'ambiguous' | null;
}

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

  /** The stored form: JSON with large numbers as strings, so that no digit is lost. */
  toStored() {
    const { lines, matchedMore, classifiedMore, less, ambiguous, conflicts, tolerated } = this;
    const samples = { matchedMore, classifiedMore, less, ambiguous, conflicts };
    const written = Object.entries(samples).map(([name, { count, nsus }]) => [
      name,
      { count, nsus: nsus.map(String) },
    ]);
    return {
      lines,
      ...(Object.fromEntries(written) as Record<keyof typeof samples, StoredSample>),
      tolerated: { count: tolerated.count, cents: tolerated.cents.toString() },
    };
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

type StoredSample = { count: number; nsus: string[] };

export type StoredResult = ReturnType<TrialResult['toStored']>;

export function readResult({ tolerated, lines, ...stored }: StoredResult) {
  const read = ({ count, nsus }: StoredSample) => ({ count, nsus: nsus.map(BigInt) });
  return {
    lines,
    matchedMore: read(stored.matchedMore),
    classifiedMore: read(stored.classifiedMore),
    less: read(stored.less),
    ambiguous: read(stored.ambiguous),
    conflicts: read(stored.conflicts),
    tolerated: { count: tolerated.count, amount: BigInt(tolerated.cents) },
  };
}
