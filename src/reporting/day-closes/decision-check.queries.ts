// Checks the decision log of an account: each entry against its fact, each certificate's root
// against the entries up to it, and that every fact and right is in the log as it is.
import { leafHashOf, MerkleTree } from '../../platform/merkle-tree.js';
import type { Db } from '../../platform/postgres/database.service.js';
import type { Certificate } from './certificate.js';
import { compareValues } from './chain-check.js';
import {
  findChangedRight,
  findUnloggedFact,
  readLog,
  readLogExtent,
  type LogEntry,
} from './decision-log.queries.js';
import { commitmentOfDecision, decisionText, isDecisionKind } from './decision-sources.js';
import type { Difference } from './stored-line.js';

type Stated = Pick<Certificate, 'date' | 'decisions'>;

/** `certificates` are in the order of the chain. */
export async function differenceOfDecisions(
  db: Db,
  accountId: number,
  certificates: readonly Stated[],
): Promise<Difference | null> {
  const uncovered: Difference[] = [];
  return (
    (await differenceOfLog(db, accountId, certificates, uncovered)) ??
    differenceOfFact('a fact', await findUnloggedFact(db, accountId)) ??
    differenceOfFact('a right', await findChangedRight(db, accountId)) ??
    uncovered[0] ??
    null
  );
}

/** Facts that their commitments do not cover go into `uncovered`: they break no root. */
async function differenceOfLog(
  db: Db,
  accountId: number,
  certificates: readonly Stated[],
  uncovered: Difference[],
): Promise<Difference | null> {
  const state = await db.dayCloseState.findUnique({ where: { accountId } });
  if (!state) return null;
  const tree = new MerkleTree();
  let read = 0n;
  const extent = await readLogExtent(db, accountId);
  const present = { count: Number(extent.count), root: extent.tree.root().toString('hex') };
  for (const { date, decisions } of [...certificates, { date: null, decisions: present }]) {
    if (!decisions) {
      if (read > 0n) return compareValues(date, 'decisions', 'a root', 'none');
      continue;
    }
    const until = BigInt(decisions.count);
    for await (const entries of readLog(db, accountId, { from: read, until }))
      for (const entry of entries) {
        const difference = differenceOfEntry(date, accountId, entry);
        if (difference) return difference;
        const erased = differenceOfCovered(date, entry);
        if (erased && uncovered.length === 0) uncovered.push(erased);
        tree.add(entry.leafHash ?? Buffer.alloc(0));
        read += 1n;
      }
    const difference =
      compareValues(date, 'decisions', until, read) ??
      compareValues(date, 'decisions', decisions.root, tree.root().toString('hex'));
    if (difference) return difference;
  }
  return null;
}

function differenceOfEntry(
  date: string | null,
  accountId: number,
  entry: LogEntry,
): Difference | null {
  const stored = Buffer.from(entry.leafHash ?? []).toString('hex');
  const leaf = leafHashOf(decisionText(accountId, entry, entry.commitment), 'hex');
  // A right that has ended is stored as null.
  if (!entry.fact && isDecisionKind(entry.kind))
    return compareValues(date, nameOf(entry), 'a fact', 'gone');
  return compareValues(date, nameOf(entry), stored, leaf);
}

/** What people wrote is either as it was logged, or it was erased or changed after that. */
function differenceOfCovered(date: string | null, entry: LogEntry): Difference | null {
  const isAsLogged = entry.commitment === commitmentOfDecision(entry);
  return isAsLogged ? null : compareValues(date, nameOf(entry), 'as logged', 'erased or changed');
}

const nameOf = ({ kind, key }: LogEntry) => `${kind} ${key.join(' ')}`;

function differenceOfFact(
  what: string,
  found: { kind: string; key: string } | null,
): Difference | null {
  return (
    found && compareValues(null, `${found.kind} ${found.key}`, `${what} in the log`, 'another')
  );
}
