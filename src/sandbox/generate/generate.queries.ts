import { columnsOf, type Queryable, type SandboxTx } from '../sandbox-database.service.js';

/** The time of the last line of a locked account; null when it has no line. */
export async function findLastLineTime(tx: SandboxTx, accountId: number): Promise<Date | null> {
  const last = await tx.find<{ createdAt: Date }>(
    `SELECT line.created_at FROM account
     JOIN statement_line AS line ON line.account_id = account.id AND line.nsu = account.tail_nsu
     WHERE account.id = $1`,
    [accountId],
  );
  return last?.createdAt ?? null;
}

/** Inserts lines with their movements and entries, from one JSON text. */
export async function insertLines(tx: SandboxTx, lines: readonly object[]): Promise<void> {
  await tx.query(
    `WITH line AS MATERIALIZED (
       SELECT * FROM json_to_recordset($1::json) AS line (
         account_id integer, movement_id bigint, idempotency_key text, internal text, nsu bigint,
         previous_nsu bigint, id uuid, change_cents bigint, balance_previous_cents bigint,
         current_balance_cents bigint, type_name text, notes text, correlation_id text,
         end_to_end_id text, original_end_to_end_id text, proof json, created_at timestamptz,
         shown_type_name text, preset text, hides_original_id boolean)
     ), made AS (
       INSERT INTO movement (id, kind, idempotency_key, created_at)
       SELECT movement_id, 'ordinary', idempotency_key, created_at FROM line
     ), legs AS (
       INSERT INTO entry (movement_id, account_id, change_cents)
       SELECT movement_id, account_id, change_cents FROM line
       UNION ALL
       SELECT line.movement_id, account.id, -line.change_cents
       FROM line JOIN account ON account.number = line.internal AND account.kind = 'internal'
     )
     INSERT INTO statement_line (
       account_id, nsu, previous_nsu, id, movement_id, change_cents, balance_previous_cents,
       current_balance_cents, type_name, notes, correlation_id, end_to_end_id,
       original_end_to_end_id, proof, created_at, shown_type_name, preset,
       hides_original_id)
     SELECT account_id, nsu, previous_nsu, id, movement_id, change_cents, balance_previous_cents,
            current_balance_cents, type_name, notes, correlation_id, end_to_end_id,
            original_end_to_end_id, proof, created_at, shown_type_name, preset,
            hides_original_id
     FROM line`,
    [JSON.stringify(lines.map(columnsOf))],
  );
}

/**
 * Without it, plans would go by statistics from before the lines. To a planner that knows of no
 * line of the account, an index that finds a page seems no better than one that reads all lines.
 */
export async function analyzeGenerated(database: Queryable): Promise<void> {
  await database.query('ANALYZE statement_line, movement, entry, charge, transfer');
}
