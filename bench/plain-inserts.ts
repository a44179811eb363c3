// Measures plain inserts of the same lines on the same machine. Results as a multiple of this time
// can be compared between machines.
import type pg from 'pg';

const columnsSql = `
  SELECT column_name AS name, format_type(a.atttypid, a.atttypmod) AS type
  FROM information_schema.columns c
  JOIN pg_attribute a ON a.attrelid = 'statement_line'::regclass AND a.attname = c.column_name
  WHERE c.table_name = 'statement_line' AND c.table_schema = current_schema()
  ORDER BY c.ordinal_position`;

/**
 * Copies the stored lines to a table with the same indexes, `batchSize` lines in each transaction.
 * Returns the seconds that the inserts take.
 */
export async function measurePlainInserts(pool: pg.Pool, batchSize: number): Promise<number> {
  await pool.query('DROP TABLE IF EXISTS plain_insert');
  await pool.query('CREATE TABLE plain_insert (LIKE statement_line INCLUDING ALL)');
  const { rows: columns } = await pool.query<{ name: string; type: string }>(columnsSql);
  const selected = columns.map(({ name }) => `"${name}"::text`).join(', ');
  const { rows } = await pool.query<Record<string, string | null>>(
    `SELECT ${selected} FROM statement_line ORDER BY account_id, arrival`,
  );
  const arrays = columns.map(({ type }, index) => `$${index + 1}::text[]::${type}[]`).join(', ');
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const sql = `INSERT INTO plain_insert (${names}) SELECT * FROM unnest(${arrays})`;
  const startedAt = performance.now();
  for (let from = 0; from < rows.length; from += batchSize) {
    const batch = rows.slice(from, from + batchSize);
    const values = columns.map(({ name }) => batch.map((row) => row[name] ?? null));
    await pool.query(sql, values);
  }
  return (performance.now() - startedAt) / 1_000;
}
