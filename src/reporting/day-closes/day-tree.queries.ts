// The Merkle tree over the lines of a span with their outcomes, and what they add up to. The lines
// are read in groups; only the root and the totals of each group are held. When outcomes changed
// since, only the groups of these lines are read again.
import type { Db } from '../../platform/postgres/database.service.js';
import { MerkleTree } from '../../platform/merkle-tree.js';
import {
  readLeafPage,
  type LeafPage,
  type LineSpan,
  type OutcomeTotal,
} from './day-lines.queries.js';
import { hasChangedOutcome, listChangedNsus } from './outcomes.queries.js';

/** A group is a complete subtree of this height; the last one may have fewer lines. */
const groupHeight = 10;
const groupLines = 2 ** groupHeight;
const leafBytes = 32;

interface Group extends Omit<LeafPage, 'leaves'> {
  afterNsu: bigint;
  root: Buffer;
}

export class DayTree {
  private constructor(
    private readonly span: LineSpan,
    private readonly groups: Group[],
  ) {}

  /** No line of the span is below `firstNsu` or above `lastNsu`; null if the span has no line. */
  static async read(
    db: Db,
    span: LineSpan,
    { firstNsu, lastNsu }: { firstNsu: bigint | null; lastNsu: bigint | null },
  ): Promise<DayTree> {
    const groups: Group[] = [];
    if (firstNsu !== null && lastNsu !== null)
      for (let afterNsu = firstNsu - 1n; afterNsu < lastNsu;) {
        const group = await readGroup(db, span, afterNsu, lastNsu);
        if (group.lastNsu === null) break;
        groups.push(group);
        // Nobody needs the root before every line has an outcome.
        if (group.undecided > 0) break;
        afterNsu = group.lastNsu;
      }
    return new DayTree({ ...span }, groups);
  }

  /** The outcomes are those of this sequence. */
  get outcomeSequence(): bigint {
    return this.span.outcomeSequence;
  }

  /** Reads again what changed up to a later sequence of outcomes. */
  async refresh(db: Db, outcomeSequence: bigint): Promise<void> {
    const changed = await listChangedNsus(db, this.span, outcomeSequence);
    this.span.outcomeSequence = outcomeSequence;
    let next = 0;
    for (const [index, { afterNsu, lastNsu }] of this.groups.entries()) {
      if (lastNsu === null || (changed[next] ?? lastNsu + 1n) > lastNsu) continue;
      this.groups[index] = await readGroup(db, this.span, afterNsu, lastNsu);
      while ((changed[next] ?? lastNsu + 1n) <= lastNsu) next += 1;
    }
  }

  /** Whether an outcome of these lines changed after those that were read. */
  async isOutdated(db: Db): Promise<boolean> {
    return hasChangedOutcome(db, this.span);
  }

  /** In hexadecimal. */
  root(): string {
    const tree = new MerkleTree();
    for (const { root } of this.groups) tree.add(root, groupHeight);
    return tree.root().toString('hex');
  }

  get lines(): number {
    return this.groups.reduce((sum, { lines }) => sum + lines, 0);
  }

  /** The lines without an outcome. */
  get undecided(): number {
    return this.groups.reduce((sum, { undecided }) => sum + undecided, 0);
  }

  get pending(): number {
    const pending = this.totals().filter(({ state }) => state === 'pending');
    return pending.reduce((sum, { lines }) => sum + lines, 0);
  }

  totals(): OutcomeTotal[] {
    const all = new Map<string, OutcomeTotal>();
    for (const total of this.groups.flatMap(({ totals }) => totals)) {
      const { state, label, isCredit, lines, cents } = total;
      const key = JSON.stringify([state, label, isCredit]);
      const sum = all.get(key) ?? { state, label, isCredit, lines: 0, cents: 0n };
      all.set(key, { ...sum, lines: sum.lines + lines, cents: sum.cents + cents });
    }
    return [...all.values()];
  }
}

async function readGroup(
  db: Db,
  span: LineSpan,
  afterNsu: bigint,
  untilNsu: bigint,
): Promise<Group> {
  const { leaves, ...page } = await readLeafPage(db, span, {
    ...{ afterNsu, untilNsu, limit: groupLines },
  });
  const tree = new MerkleTree();
  for (let at = 0; at < leaves.length; at += leafBytes)
    tree.add(leaves.subarray(at, at + leafBytes));
  return { ...page, afterNsu, root: tree.root() };
}
