// The log of decisions, rule versions, approvals, rights and policies of an account. A trigger adds
// an entry with each fact; here entries get their places, in the order in which they are found.
// What commits late is found late: the log of an earlier day is a prefix of that of a later one.
import { Prisma } from '../../generated/service/client.js';
import { groupBy } from '../../platform/grouping.js';
import { parseJson, strictJson } from '../../platform/json/exact-json.js';
import { leafHashOf, MerkleTree } from '../../platform/merkle-tree.js';
import type { Database, Db, Tx } from '../../platform/postgres/database.service.js';
import type { Lease } from '../../platform/postgres/leases/leases.queries.js';
import { transactionUnderLease } from '../../platform/postgres/leases/leases.service.js';
import {
  commitmentOfDecision,
  decisionSources,
  decisionText,
  isDecisionKind,
  rightKinds,
  type DecisionKind,
  type DecisionSource,
  type LoggedDecision,
} from './decision-sources.js';

const pageEntries = 1_000;

export interface LogEntry extends LoggedDecision {
  sequence: bigint;
  position: bigint | null;
  leafHash: Uint8Array | null;
  commitment: string | null;
}

/** The log as far as its entries have places. */
export interface LogExtent {
  count: bigint;
  tree: MerkleTree;
}

export async function readLogExtent(db: Db, accountId: number): Promise<LogExtent> {
  const state = await db.dayCloseState.findUniqueOrThrow({ where: { accountId } });
  const count = state.decisionCount;
  return { count, tree: MerkleTree.of(count, state.decisionSubtrees) };
}

/** Gives every entry that is committed its place. What is stored is read again by nobody. */
export async function extendLog(database: Database, lease: Lease): Promise<void> {
  for (let after: bigint | null = -1n; after !== null;) {
    const from: bigint = after;
    after = await transactionUnderLease(database, lease, (tx) =>
      extendByPage(tx, lease.accountId, from),
    );
  }
}

/** Returns the last sequence of a full page; null where nothing is left. */
async function extendByPage(tx: Tx, accountId: number, after: bigint): Promise<bigint | null> {
  const entries = await tx.decisionLogEntry.findMany({
    where: { accountId, position: null, sequence: { gt: after } },
    orderBy: { sequence: 'asc' },
    take: pageEntries,
  });
  if (entries.length === 0) return null;
  const { count, tree } = await readLogExtent(tx, accountId);
  const logged = await withFacts(tx, accountId, entries);
  const commitments = logged.map(commitmentOfDecision);
  const leaves = logged.map((entry, at) =>
    leafHashOf(decisionText(accountId, entry, commitments[at]!)),
  );
  for (const leaf of leaves) tree.add(leaf);
  await tx.$executeRaw`
    UPDATE decision_log_entry e SET position = ${count} + given.place - 1,
      leaf_hash = given.leaf, commitment = given.commitment
    FROM unnest(${entries.map(({ sequence }) => sequence)}::bigint[], ${leaves}::bytea[],
        ${commitments}::text[])
      WITH ORDINALITY AS given(sequence, leaf, commitment, place)
    WHERE e.account_id = ${accountId} AND e.sequence = given.sequence`;
  await tx.dayCloseState.update({
    where: { accountId },
    data: {
      decisionCount: count + BigInt(entries.length),
      decisionSubtrees: tree.subtreeRoots(),
    },
  });
  return entries.length === pageEntries ? (entries.at(-1)?.sequence ?? null) : null;
}

/** The entries at the places from `from` and before `until`, in order, page by page. */
export async function* readLog(
  db: Db,
  accountId: number,
  { from, until }: { from: bigint; until: bigint },
): AsyncGenerator<LogEntry[]> {
  for (let next = from; next < until;) {
    const entries = await db.decisionLogEntry.findMany({
      where: { accountId, position: { gte: next, lt: until } },
      orderBy: { position: 'asc' },
      take: pageEntries,
    });
    if (entries.length === 0) return;
    yield await withFacts(db, accountId, entries);
    next = (entries.at(-1)?.position ?? until) + 1n;
  }
}

type StoredEntry = Omit<LogEntry, 'fact'> & { detail: unknown };

async function withFacts(
  db: Db,
  accountId: number,
  entries: readonly StoredEntry[],
): Promise<LogEntry[]> {
  const facts = new Map<bigint, LogEntry['fact']>();
  for (const [kind, group] of groupBy(entries, ({ kind }) => kind))
    if (isDecisionKind(kind))
      for (const { sequence, fact } of await listFacts(db, accountId, kind, group))
        facts.set(sequence, parseJson(fact, strictJson) as LogEntry['fact']);
  return entries.map(({ detail, ...entry }) => ({
    ...entry,
    fact: facts.get(entry.sequence) ?? (detail as LogEntry['fact']),
  }));
}

/** The rows that entries of a kind name, by their keys. */
async function listFacts(
  db: Db,
  accountId: number,
  kind: DecisionKind,
  entries: readonly { sequence: bigint }[],
): Promise<{ sequence: bigint; fact: string }[]> {
  return db.$queryRaw`
    SELECT e.sequence, to_jsonb(fact)::text AS fact
    FROM decision_log_entry e
    JOIN ${Prisma.raw(`"${kind}"`)} fact ON fact.account_id = e.account_id AND ${keyOf(kind)}
    WHERE e.account_id = ${accountId}
      AND e.sequence = ANY (${entries.map(({ sequence }) => sequence)}::bigint[])`;
}

/** That the key of an entry is that of a fact, so that the index of the fact finds it. */
function keyOf(kind: DecisionKind): Prisma.Sql {
  const columns = Object.entries((decisionSources[kind] as DecisionSource).key).map(
    ([column, type], index) =>
      kind === 'tariff' && column === 'kind'
        ? `fact."${column}"::text = e.key[${index + 1}]`
        : `fact."${column}" = e.key[${index + 1}]::${type}`,
  );
  return Prisma.raw(columns.join(' AND '));
}

/** A fact that no entry names, of any kind; null if there is none. */
export async function findUnloggedFact(
  db: Db,
  accountId: number,
): Promise<{ kind: string; key: string } | null> {
  for (const kind of Object.keys(decisionSources) as DecisionKind[]) {
    const columns = Object.keys((decisionSources[kind] as DecisionSource).key).map(
      (name) => `fact."${name}"::text`,
    );
    // Unlike NOT EXISTS, EXCEPT compares no pair of rows, whatever the planner expects.
    const [found] = await db.$queryRaw<{ key: string[] }[]>`
      SELECT key FROM (
        SELECT ARRAY[${Prisma.raw(columns.join(', '))}] AS key
        FROM ${Prisma.raw(`"${kind}"`)} fact
        WHERE fact.account_id = ${accountId} ${isLogged(kind)}
        EXCEPT
        SELECT key FROM decision_log_entry WHERE account_id = ${accountId} AND kind = ${kind}
      ) unlogged LIMIT 1`;
    if (found) return { kind, key: found.key.join(' ') };
  }
  return null;
}

/** What the service itself does with a break is no decision: it follows from facts. */
const isLogged = (kind: DecisionKind) =>
  kind === 'break_history_entry' ? Prisma.sql`AND fact.actor IS NOT NULL` : Prisma.empty;

/** A right that is not what its last entry says; null if there is none. */
export async function findChangedRight(
  db: Db,
  accountId: number,
): Promise<{ kind: string; key: string } | null> {
  const [found] = await db.$queryRaw<{ kind: string; key: string }[]>`
    WITH logged AS (
      SELECT DISTINCT ON (kind, key) kind, key[1] AS key, detail FROM decision_log_entry
      WHERE account_id = ${accountId} AND kind = ANY (${[...rightKinds]}::text[])
      ORDER BY kind, key, sequence DESC
    ), present AS (
      SELECT 'api_key' AS kind, k.id::text AS key, right_of('api_key', to_jsonb(k)) AS detail
      FROM api_key k WHERE k.account_id = ${accountId}
      UNION ALL
      SELECT 'operator_role', r.operator_id::text, right_of('operator_role', to_jsonb(r))
      FROM operator_role r WHERE r.account_id = ${accountId}
      UNION ALL
      SELECT 'operator', o.id::text, right_of('operator', to_jsonb(o))
      FROM operator o WHERE o.role_everywhere IS NOT NULL OR EXISTS (
        SELECT FROM logged l WHERE l.kind = 'operator' AND l.key = o.id::text)
    )
    SELECT kind, key FROM logged FULL JOIN present USING (kind, key)
    WHERE COALESCE(logged.detail, 'null') IS DISTINCT FROM COALESCE(present.detail, 'null')
    ORDER BY kind, key LIMIT 1`;
  return found ?? null;
}
