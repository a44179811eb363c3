import type { Tx } from '../sandbox-database.service.js';

/** Another process's statements go before us: we give way within this time, and come again. */
const lockTimeoutMs = 300;

/**
 * Ids of these go on: a sender or worker that still has one of the old bank's in hand must not meet it in the new one.
 */
const idsGoOn = ['webhook_delivery', 'due_task'];

/** Empties every table of the bank. Fails with SQLSTATE 55P03 when somebody holds a table for long. */
export async function emptyTables(tx: Tx): Promise<void> {
  await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [`${lockTimeoutMs}ms`]);
  await tx.query(`LOCK TABLE ${idsGoOn.join(', ')}`);
  const given = await tx.query<{ id: bigint }>(
    `SELECT nextval(pg_get_serial_sequence(name, 'id')) AS id FROM unnest($1::text[]) AS name`,
    [idsGoOn],
  );
  const tables = await tx.query<{ name: string }>(
    `SELECT format('%I', tablename) AS name FROM pg_tables
     WHERE schemaname = current_schema() AND tablename <> '_prisma_migrations' ORDER BY tablename`,
  );
  await tx.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} RESTART IDENTITY`);
  await tx.query(
    `SELECT setval(pg_get_serial_sequence(name, 'id'), given)
     FROM unnest($1::text[], $2::bigint[]) AS went_on (name, given)`,
    [idsGoOn, given.map(({ id }) => id)],
  );
}
