// Measures what a foreign key to the account would cost the tables that leave it out, as a multiple
// of the same inserts without it. Rounds with and without the key are interleaved.
import { it } from '@jest/globals';
import type pg from 'pg';
import { serviceDatabase } from '../test/support/service-database.js';
import { alignColumns } from '../test/support/table.js';

const rounds = 30;
const rowsOfRound = 1_000;

/** The tables of the hot paths, and how one of their rows (n) is made. */
const insertsOf = {
  statement_line: `
    (account_id, nsu, bank_id, is_credit, amount_cents, type_name, end_to_end_id,
     balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
    SELECT 1, n, n::text, true, 1000, 'CREDIT_PIX', 'E' || n,
           1000 * (n - 1), 1000 * n, now(), md5(n::text), repeat('x', 600)`,
  webhook_event: `
    (account_id, event_type, body_hash, body, state)
    SELECT 1, 'PIX', md5(n::text), decode(repeat('61', 1000), 'hex'), 'pending'`,
};

async function measure(pool: pg.Pool, table: string, insert: string, from: number) {
  const startedAt = performance.now();
  await pool.query(
    `INSERT INTO ${table} ${insert} FROM generate_series($1::bigint, $2::bigint) n`,
    [from, from + rowsOfRound - 1],
  );
  return performance.now() - startedAt;
}

const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

it('measures the foreign keys that are left out', async () => {
  const service = await serviceDatabase();
  const { pool } = service.database;
  const report = [];
  for (const [table, insert] of Object.entries(insertsOf)) {
    for (const copy of ['plain', 'keyed'])
      await pool.query(`CREATE TABLE ${copy}_${table} (LIKE ${table} INCLUDING ALL)`);
    await pool.query(
      `ALTER TABLE keyed_${table} ADD FOREIGN KEY (account_id) REFERENCES bank_account (id)`,
    );
    const plain: number[] = [];
    const keyed: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      plain.push(await measure(pool, `plain_${table}`, insert, round * rowsOfRound + 1));
      keyed.push(await measure(pool, `keyed_${table}`, insert, round * rowsOfRound + 1));
    }
    const ratio = (median(keyed) / median(plain)).toFixed(2);
    report.push([table, median(plain).toFixed(1), median(keyed).toFixed(1), ratio]);
  }
  const header = [`ms for ${rowsOfRound} rows`, 'without the key', 'with it', 'ratio'];
  console.log(alignColumns([header, ...report]).join('\n'));
  await service.drop();
});
