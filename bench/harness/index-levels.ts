// How deep the indexes of a database are, and how often they are searched: each level more is a
// page more to read at each search.
import type pg from 'pg';

/** By the name of an index. */
export type ByIndex = ReadonlyMap<string, number>;

/** The levels above the leaves of each B-tree index, from where its searches begin. */
export async function readLevels(pool: pg.Pool): Promise<ByIndex> {
  await pool.query('CREATE EXTENSION IF NOT EXISTS pageinspect');
  return readByIndex(
    pool,
    `SELECT c.relname AS name, (bt_metap(c.oid::regclass::text)).fastlevel AS value
     FROM pg_class c JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'
     WHERE c.relkind = 'i' AND c.relnamespace = 'public'::regnamespace`,
  );
}

/** The result of `work`, and how often it searched each index in the session of `pool`. */
export async function countSearches<Result>(
  pool: pg.Pool,
  work: () => Promise<Result>,
): Promise<{ result: Result; searches: ByIndex }> {
  const before = await readSearches(pool);
  const result = await work();
  const after = [...(await readSearches(pool))];
  const searches = after.map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return { result, searches: new Map(searches) };
}

/** The pages that these searches read for levels that the same indexes have not elsewhere. */
export function readsOfAddedLevels(searches: ByIndex, levels: ByIndex, elsewhere: ByIndex): number {
  const added = (name: string) => Math.max(0, (levels.get(name) ?? 0) - (elsewhere.get(name) ?? 0));
  return [...searches].reduce((sum, [name, count]) => sum + count * added(name), 0);
}

/** Since the start. Only the statistics of this session are flushed: `pool` has one connection. */
async function readSearches(pool: pg.Pool): Promise<ByIndex> {
  await pool.query('SELECT pg_stat_force_next_flush()');
  return readByIndex(
    pool,
    `SELECT indexrelname AS name, idx_scan AS value FROM pg_stat_user_indexes
     WHERE schemaname = 'public'`,
  );
}

async function readByIndex(pool: pg.Pool, sql: string): Promise<ByIndex> {
  const { rows } = await pool.query<{ name: string; value: string }>(sql);
  return new Map(rows.map(({ name, value }) => [name, Number(value)]));
}
