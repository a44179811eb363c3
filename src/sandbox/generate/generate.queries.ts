import type { SandboxTx } from '../sandbox-database.service.js';

/** Allocates many ids for new movements or charges in one statement. */
export async function allocateIds(
  tx: SandboxTx,
  table: 'movement' | 'charge',
  count: number,
): Promise<bigint[]> {
  const rows = await tx.query<{ id: bigint }>(
    `SELECT nextval(pg_get_serial_sequence($1, 'id')) AS id FROM generate_series(1, $2)`,
    [table, count],
  );
  return rows.map((row) => row.id);
}

/** The time of the last line of a locked account; null when it has no line. */
export async function findLastLineTime(tx: SandboxTx, accountId: number): Promise<Date | null> {
  const [row] = await tx.query<{ created_at: Date }>(
    `SELECT line.created_at FROM account
     JOIN statement_line AS line ON line.account_id = account.id AND line.nsu = account.tail_nsu
     WHERE account.id = $1`,
    [accountId],
  );
  return row?.created_at ?? null;
}

/**
 * Inserts the rows of a chunk: JSON arrays with the tables' column names, whole numbers as text.
 */
export async function insertGeneratedRows(
  tx: SandboxTx,
  accountId: number,
  rows: { lines: string; charges: string; transfers: string },
  hidesOriginalId: boolean,
): Promise<void> {
  await insertLines(tx, accountId, rows.lines, hidesOriginalId);
  await insertCharges(tx, accountId, rows.charges);
  await insertTransfers(tx, accountId, rows.transfers);
}

async function insertLines(
  tx: SandboxTx,
  accountId: number,
  lines: string,
  hidesOriginalId: boolean,
): Promise<void> {
  await tx.query(
    `WITH line AS MATERIALIZED (
       SELECT * FROM json_to_recordset($2::json) AS line (
         movement_id bigint, idempotency_key text, internal text, nsu bigint, previous_nsu bigint,
         id uuid, change_cents bigint, balance_previous_cents bigint, current_balance_cents bigint,
         type_name text, notes text, correlation_id text, end_to_end_id text,
         original_end_to_end_id text, proof json, created_at timestamptz)
     ), made AS (
       INSERT INTO movement (id, kind, idempotency_key, created_at)
       SELECT movement_id, 'ordinary', idempotency_key, created_at FROM line
     ), legs AS (
       INSERT INTO entry (movement_id, account_id, change_cents)
       SELECT movement_id, $1::integer, change_cents FROM line
       UNION ALL
       SELECT line.movement_id, account.id, -line.change_cents
       FROM line JOIN account ON account.number = line.internal AND account.kind = 'internal'
     )
     INSERT INTO statement_line (
       account_id, nsu, previous_nsu, id, movement_id, change_cents, balance_previous_cents,
       current_balance_cents, type_name, notes, correlation_id, end_to_end_id,
       original_end_to_end_id, proof, created_at, hides_original_id)
     SELECT $1, nsu, previous_nsu, id, movement_id, change_cents, balance_previous_cents,
            current_balance_cents, type_name, notes, correlation_id, end_to_end_id,
            original_end_to_end_id, proof, created_at, $3
     FROM line`,
    [accountId, lines, hidesOriginalId],
  );
}

/**
 * Inserts charges that no request created. Their body hash is an empty text, which no request
 * body has, so that no request is a repeat of theirs.
 */
async function insertCharges(tx: SandboxTx, accountId: number, charges: string): Promise<void> {
  await tx.query(
    `INSERT INTO charge (
       id, account_id, correlation_id, type, status, amount_cents, wallet, our_number, your_number,
       due_date, bar_code, digitable_line, payer, pix_key, txid, qr_code, description, body_hash,
       answer, created_at, updated_at)
     SELECT id, $1, correlation_id, type, status, amount_cents, wallet, our_number, your_number,
            due_date, bar_code, digitable_line, payer, pix_key, txid, qr_code, description, '',
            '{}', created_at, updated_at
     FROM json_to_recordset($2::json) AS charge (
       id bigint, correlation_id text, type text, status text, amount_cents bigint, wallet integer,
       our_number text, your_number text, due_date date, bar_code text, digitable_line text,
       payer json, pix_key text, txid text, qr_code text, description text, created_at timestamptz,
       updated_at timestamptz)`,
    [accountId, charges],
  );
}

async function insertTransfers(tx: SandboxTx, accountId: number, transfers: string): Promise<void> {
  await tx.query(
    `INSERT INTO transfer (
       id, account_id, type, status, amount_cents, description, end_to_end_id, idempotency_key,
       payer, beneficiary, transaction_nsu, created_at, updated_at)
     SELECT id, $1, type, 'PIX_EFFECTIVE', amount_cents, description, end_to_end_id,
            idempotency_key, payer, beneficiary, transaction_nsu, created_at, created_at
     FROM json_to_recordset($2::json) AS transfer (
       id uuid, type text, amount_cents bigint, description text, end_to_end_id text,
       idempotency_key text, payer json, beneficiary json, transaction_nsu bigint,
       created_at timestamptz)`,
    [accountId, transfers],
  );
}

/** Stores the balance and the numbering of a locked account after a batch. */
export async function updateChainEnd(
  tx: SandboxTx,
  accountId: number,
  end: { balanceCents: bigint; lastNsu: bigint; tailNsu: bigint | null; skippedNsu: bigint | null },
): Promise<void> {
  await tx.query(
    `UPDATE account SET balance_cents = $2, last_nsu = $3, tail_nsu = $4, skipped_nsu = $5
     WHERE id = $1`,
    [accountId, end.balanceCents, end.lastNsu, end.tailNsu, end.skippedNsu],
  );
}
