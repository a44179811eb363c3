import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

export interface LockedAccount {
  balanceCents: bigint;
  /** Part of the balance that is blocked until its transfers are effective. */
  blockedCents: bigint;
  lastNsu: bigint;
  tailNsu: bigint | null;
  skippedNsu: bigint | null;
}

/** Customers' accounts by id, locked in order of id until the database transaction ends. */
export async function lockCustomerAccounts(
  tx: SandboxTx,
  ids: number[],
): Promise<Map<number, LockedAccount>> {
  const rows = await tx.query<LockedAccount & { id: number }>(
    `SELECT id, balance_cents AS "balanceCents", blocked_cents AS "blockedCents",
            last_nsu AS "lastNsu", tail_nsu AS "tailNsu", skipped_nsu AS "skippedNsu"
     FROM account WHERE id = ANY($1) AND kind = 'customer' ORDER BY id FOR NO KEY UPDATE`,
    [ids],
  );
  return new Map(rows.map(({ id, ...account }) => [id, account]));
}

/** Blocks `cents` more of an account's balance; a negative number releases them. */
export async function addBlockedCents(
  tx: SandboxTx,
  accountId: number,
  cents: bigint,
): Promise<void> {
  await tx.query('UPDATE account SET blocked_cents = blocked_cents + $2 WHERE id = $1', [
    accountId,
    cents,
  ]);
}

/** A statement line, with the column names of its table. */
export interface LineRow {
  account_id: number;
  nsu: bigint;
  previous_nsu: bigint | null;
  change_cents: bigint;
  balance_previous_cents: bigint;
  current_balance_cents: bigint;
  type_name: string;
  notes: string | null;
  correlation_id: string | null;
  external_id: string | null;
  end_to_end_id: string | null;
  original_end_to_end_id: string | null;
  proof: object | null;
  visible_at: Date | null;
  hides_external_id: boolean;
  hides_original_id: boolean;
  /** The account's numbering after this line: its highest nsu, and a skipped nsu. */
  last_nsu: bigint;
  skipped_nsu: bigint | null;
}

/**
 * Writes a movement with its legs, its lines and the new balances in one SQL statement. `lines` is
 * a JSON array of LineRow.
 */
export async function insertLedgerMovement(
  tx: SandboxTx,
  movement: {
    idempotencyKey: string | null;
    createdAt: Date;
    internalLegs: { number: string; changeCents: bigint }[];
    lines: string;
  },
): Promise<void> {
  await tx.query(
    `WITH made AS (
       INSERT INTO movement (kind, idempotency_key, created_at)
       VALUES ('ordinary', $1, $2) RETURNING id
     ), line AS (
       SELECT * FROM json_to_recordset($3::json) AS line (
         account_id integer, nsu bigint, previous_nsu bigint, change_cents bigint,
         balance_previous_cents bigint, current_balance_cents bigint, type_name text, notes text,
         correlation_id text, external_id text, end_to_end_id text, original_end_to_end_id text,
         proof json, visible_at timestamptz, hides_external_id boolean, hides_original_id boolean,
         last_nsu bigint, skipped_nsu bigint)
     ), customer_legs AS (
       INSERT INTO entry (movement_id, account_id, change_cents)
       SELECT made.id, line.account_id, line.change_cents FROM made, line
     ), internal_legs AS (
       INSERT INTO entry (movement_id, account_id, change_cents)
       SELECT made.id, account.id, leg.change_cents
       FROM made, unnest($4::text[], $5::bigint[]) AS leg (number, change_cents)
       JOIN account ON account.number = leg.number AND account.kind = 'internal'
     ), written AS (
       INSERT INTO statement_line (
         account_id, nsu, previous_nsu, movement_id, change_cents, balance_previous_cents,
         current_balance_cents, type_name, notes, correlation_id, external_id, end_to_end_id,
         original_end_to_end_id, proof, created_at, visible_at, hides_external_id,
         hides_original_id)
       SELECT line.account_id, line.nsu, line.previous_nsu, made.id, line.change_cents,
              line.balance_previous_cents, line.current_balance_cents, line.type_name, line.notes,
              line.correlation_id, line.external_id, line.end_to_end_id,
              line.original_end_to_end_id, line.proof, $2, line.visible_at,
              line.hides_external_id, line.hides_original_id
       FROM made, line
     )
     UPDATE account SET balance_cents = line.current_balance_cents, last_nsu = line.last_nsu,
                        tail_nsu = line.nsu, skipped_nsu = line.skipped_nsu
     FROM line WHERE account.id = line.account_id`,
    [
      movement.idempotencyKey,
      movement.createdAt,
      movement.lines,
      movement.internalLegs.map((leg) => leg.number),
      movement.internalLegs.map((leg) => leg.changeCents),
    ],
  );
}

export interface AccountBalance {
  branch: string;
  number: string;
  balance_cents: bigint;
}

export async function listCustomerBalances(
  database: Queryable,
  number: string | null,
): Promise<AccountBalance[]> {
  return database.query<AccountBalance>(
    `SELECT branch, number, balance_cents FROM account
     WHERE kind = 'customer' AND ($1::text IS NULL OR number = $1) ORDER BY number`,
    [number],
  );
}

export interface MovementRow {
  nsu: bigint;
  account: string;
  change_cents: bigint;
  type_name: string;
  end_to_end_id: string | null;
  correlation_id: string | null;
  external_id: string | null;
  original_end_to_end_id: string | null;
  idempotency_key: string | null;
  created_at: Date;
}

/** At most `limit` lines of customers with an nsu above `afterNsu`, by account number and nsu. */
export async function listLedgerMovements(
  database: Queryable,
  { account, afterNsu, limit }: { account: string | null; afterNsu: bigint; limit: number },
): Promise<MovementRow[]> {
  return database.query<MovementRow>(
    `SELECT line.nsu, account.number AS account, line.change_cents, line.type_name,
            line.end_to_end_id, line.correlation_id, line.external_id, line.original_end_to_end_id,
            movement.idempotency_key, line.created_at
     FROM statement_line AS line
     JOIN account ON account.id = line.account_id
     JOIN movement ON movement.id = line.movement_id
     WHERE line.nsu > $2 AND ($1::text IS NULL OR account.number = $1)
     ORDER BY account.number, line.nsu LIMIT $3`,
    [account, afterNsu, limit],
  );
}
