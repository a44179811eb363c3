import type { SandboxTx } from '../sandbox-database.service.js';

/**
 * The longest wait for a lock of another process. After it the reset is retried, so that it does
 * not delay that process.
 */
const lockTimeoutMs = 300;

/**
 * The id sequences of these tables continue after a reset. A sender or worker may still have an id
 * of the old bank. No row of the new bank may have this id.
 */
const tablesWithContinuedIds = ['webhook_delivery', 'due_task'];

/**
 * Empties every table of the bank. Throws SQLSTATE 55P03 when another session locks a table for too
 * long.
 */
export async function emptyBankTables(tx: SandboxTx): Promise<void> {
  await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [`${lockTimeoutMs}ms`]);
  await tx.query(`LOCK TABLE ${tablesWithContinuedIds.join(', ')}`);
  const lastIds = await tx.query<{ id: bigint }>(
    `SELECT nextval(pg_get_serial_sequence(name, 'id')) AS id FROM unnest($1::text[]) AS name`,
    [tablesWithContinuedIds],
  );
  const tables = await tx.query<{ name: string }>(
    `SELECT format('%I', tablename) AS name FROM pg_tables
     WHERE schemaname = current_schema() AND tablename <> '_prisma_migrations' ORDER BY tablename`,
  );
  await tx.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')} RESTART IDENTITY`);
  await tx.query(
    `SELECT setval(pg_get_serial_sequence(name, 'id'), last_id)
     FROM unnest($1::text[], $2::bigint[]) AS continued (name, last_id)`,
    [tablesWithContinuedIds, lastIds.map(({ id }) => id)],
  );
}
