// What the same lines cost when PostgreSQL does nothing but keep them: by this a bench is measured, so that the figure
// means the same on every machine.
import type pg from 'pg';

const columnsSql = `
  SELECT column_name AS name, format_type(a.atttypid, a.atttypmod) AS type
  FROM information_schema.columns c
  JOIN pg_attribute a ON a.attrelid = 'statement_line'::regclass AND a.attname = c.column_name
  WHERE c.table_name = 'transaction' AND c.table_schema = current_schema() ORDER BY c.ordinal_position`;

/** Seconds in which the mirrored lines are written once more, with the same indexes, so many in a transaction. */
export async function plainInsertSeconds(pool: pg.Pool, batchSize: number): Promise<number> {
  await pool.query('DROP TABLE IF EXISTS yardstick');
  await pool.query('CREATE TABLE yardstick (LIKE statement_line INCLUDING ALL)');
  const { rows: columns } = await pool.query<{ name: string; type: string }>(columnsSql);
  const picked = columns.map(({ name }) => `"${name}"::text`).join(', ');
  const { rows } = await pool.query<Record<string, string | null>>(
    `SELECT ${picked} FROM statement_line ORDER BY account_id, arrival`,
  );
  const arrays = columns.map(({ type }, place) => `$${place + 1}::text[]::${type}[]`).join(', ');
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const sql = `INSERT INTO yardstick (${names}) SELECT * FROM unnest(${arrays})`;
  const startedAt = performance.now();
  for (let from = 0; from < rows.length; from += batchSize) {
    const batch = rows.slice(from, from + batchSize);
    const values = columns.map(({ name }) => batch.map((row) => row[name] ?? null));
    await pool.query(sql, values);
  }
  return (performance.now() - startedAt) / 1_000;
}
