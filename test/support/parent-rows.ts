// Rows that foreign keys require: the operations, payments and accounts behind the rows that a test
// inserts itself.
import type pg from 'pg';
import { recordEvents } from './recorded-examples.js';

/** SQL that inserts operations that succeeded. `account` and `id` are expressions over `source`. */
export function succeededOperations(
  { account = '$1', id, kind = 'create_charge' }: { account?: string; id: string; kind?: string },
  source = '(VALUES (1)) one',
): string {
  return `
    INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
      response_status, ended_at)
    SELECT ${account}, ${id}, '${kind}', 'succeeded', 'h', '{}', 1, 200, now() FROM ${source}`;
}

/** Adds expected payments of R$ 10.00, each with an operation of the same id. */
export async function addPayments(pool: pg.Pool, accountId: number, ids: string[]): Promise<void> {
  await pool.query(
    `WITH o AS (${succeededOperations({ id: 'id' }, 'unnest($2::uuid[]) AS payment(id)')})
     INSERT INTO expected_payment
       (account_id, id, operation_id, kind, is_credit, amount_cents, is_multi_use)
     SELECT $1, id, id, 'create_charge', true, 1000, false FROM unnest($2::uuid[]) AS payment(id)`,
    [accountId, ids],
  );
}

/** Adds bank accounts with the ids 1 to `last`. */
export async function addAccounts(pool: pg.Pool, last: number): Promise<void> {
  await pool.query(
    `INSERT INTO bank_account (id, slug, go_live_at)
     SELECT id, 'account-' || id, '2000-01-01' FROM generate_series(1, $1::int) id
     ON CONFLICT DO NOTHING`,
    [last],
  );
}

/** Empties all tables but these, also those to which rows are only appended. */
export async function deleteAllRows(
  pool: pg.Pool,
  { except }: { except: string[] },
): Promise<void> {
  await recordEvents(pool);
  const { rows } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_name <> ALL ($1)`,
    [['_prisma_migrations', ...except]],
  );
  await deleteRows(
    pool,
    rows.map(({ name }) => name),
  );
}

/** Empties these tables, whatever refers to their rows. */
async function deleteRows(pool: pg.Pool, tables: readonly string[]): Promise<void> {
  await withoutTriggers(pool, async (client) => {
    for (const table of tables) await client.query(`DELETE FROM "${table}"`);
  });
}

/** Neither triggers nor foreign keys apply to what `work` writes. */
export async function withoutTriggers(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('SET session_replication_role = replica');
    await work(client);
  } finally {
    await client.query('RESET session_replication_role');
    client.release();
  }
}
