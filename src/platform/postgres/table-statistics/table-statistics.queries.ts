// Renews PostgreSQL's statistics of tables that have grown.
import type pg from 'pg';
import type { Reader } from '../database.service.js';

/** A table of fewer rows is read fast by any plan. */
const fewRows = 100;
/** A table that has grown less is left to PostgreSQL's own rounds. */
const growth = 4;

/**
 * The tables of this role that have grown so much since PostgreSQL last counted their rows, by
 * names for SQL.
 */
export async function listGrownTables(db: Reader): Promise<string[]> {
  const rows = await db.$queryRaw<{ name: string }[]>`
    SELECT oid::regclass::text AS name FROM pg_class
    WHERE relkind = 'r' AND relpersistence = 'p' AND pg_has_role(relowner, 'USAGE')
      AND pg_stat_get_live_tuples(oid) > ${growth} * GREATEST(reltuples, ${fewRows})`;
  return rows.map(({ name }) => name);
}

/** Does nothing while another session analyses the table, vacuums it or changes it. */
export async function analyzeTable(pool: pg.Pool, name: string): Promise<void> {
  await pool.query(`ANALYZE (SKIP_LOCKED) ${name}`);
}
