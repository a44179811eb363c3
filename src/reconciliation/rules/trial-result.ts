// What a version of a rule would do, told against the book as it stands. Pure.
import type { Ruling } from './rule-decision.js';

/** So many numbers of lines are told of each sort. */
const sampleSize = 20;

export class Sample {
  count = 0;
  readonly nsus: bigint[] = [];

  add(nsu: bigint): void {
    this.count += 1;
    if (this.nsus.length < sampleSize) this.nsus.push(nsu);
  }
}

/** What the book says of a line that rules decide about. */
export interface AsItStands {
  nsu: bigint;
  isByRule: boolean;
  standing: 'unexpected' | 'ambiguous' | null;
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

  /** Of one line, what it is and what it would be. */
  add({ nsu, isByRule, standing }: AsItStands, would: Ruling): void {
    const isOurs = would.of !== 'nothing' && would.rule.ruleId === this.ruleId;
    if (would.of === 'matched' && isOurs) this.tolerate(would);
    if (isByRule && (would.of === 'nothing' || would.of === 'ambiguous')) this.less.add(nsu);
    if (would.of === 'ambiguous' && standing !== 'ambiguous') this.ambiguous.add(nsu);
    if (isByRule || !isOurs) return;
    if (would.of === 'matched') this.matchedMore.add(nsu);
    if (would.of === 'classified') this.classifiedMore.add(nsu);
  }

  /** As it is stored: JSON without a number that could lose a digit. */
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

  private tolerate({ payments }: Extract<Ruling, { of: 'matched' }>): void {
    for (const { differenceCents, owedCents, expected, amountCents } of payments) {
      const isWhole = owedCents === null || owedCents === expected.paidCents + amountCents;
      if (differenceCents === 0n || !isWhole) continue;
      this.tolerated.count += 1;
      this.tolerated.cents += differenceCents < 0n ? -differenceCents : differenceCents;
    }
  }
}

interface StoredSample {
  count: number;
  nsus: string[];
}

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
