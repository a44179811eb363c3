import type { Account, StatementLine } from '../../generated/sandbox/client.js';
import { stringifyJson } from '../../platform/json/exact-json.js';
import { columnsOf, type Queryable, type SandboxTx } from '../sandbox-database.service.js';
import type { PostedLine } from './movement.js';

export interface LockedAccount extends Pick<
  Account,
  'id' | 'blockedCents' | 'lastNsu' | 'tailNsu' | 'skippedNsu'
> {
  balanceCents: bigint;
}

/** Customers' accounts by id, locked in order of id until the database transaction ends. */
export async function lockCustomerAccounts(
  tx: SandboxTx,
  ids: number[],
): Promise<Map<number, LockedAccount>> {
  const accounts = await tx.query<LockedAccount>(
    `SELECT id, balance_cents, blocked_cents, last_nsu, tail_nsu, skipped_nsu
     FROM account WHERE id = ANY($1) AND kind = 'customer' ORDER BY id FOR NO KEY UPDATE`,
    [ids],
  );
  return new Map(accounts.map((account) => [account.id, account]));
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

/** Allocates ids for new movements or charges. Unused ids leave gaps in the numbers. */
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

/** A statement line, and the numbering of its account after it. */
export interface LineRow
  extends
    Omit<StatementLine, 'id' | 'movementId' | 'createdAt' | 'proof'>,
    Pick<Account, 'lastNsu' | 'skippedNsu'> {
  proof: object | null;
}

/** Writes a movement with its legs, its lines and the new balances in one SQL statement. */
export async function insertLedgerMovement(
  tx: SandboxTx,
  movement: {
    idempotencyKey: string | null;
    createdAt: Date;
    internalLegs: { number: string; changeCents: bigint }[];
    lines: LineRow[];
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
         proof json, visible_at timestamptz, shown_type_name text, preset text,
         hides_external_id boolean, hides_original_id boolean,
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
         original_end_to_end_id, proof, created_at, visible_at, shown_type_name, preset,
         hides_external_id, hides_original_id)
       SELECT line.account_id, line.nsu, line.previous_nsu, made.id, line.change_cents,
              line.balance_previous_cents, line.current_balance_cents, line.type_name, line.notes,
              line.correlation_id, line.external_id, line.end_to_end_id,
              line.original_end_to_end_id, line.proof, $2, line.visible_at,
              line.shown_type_name, line.preset, line.hides_external_id, line.hides_original_id
       FROM made, line
     )
     UPDATE account SET balance_cents = line.current_balance_cents, last_nsu = line.last_nsu,
                        tail_nsu = line.nsu, skipped_nsu = line.skipped_nsu
     FROM line WHERE account.id = line.account_id`,
    [
      movement.idempotencyKey,
      movement.createdAt,
      stringifyJson(movement.lines.map(columnsOf)),
      movement.internalLegs.map((leg) => leg.number),
      movement.internalLegs.map((leg) => leg.changeCents),
    ],
  );
}

export function listCustomerBalances(
  database: Queryable,
  number: string | null,
): Promise<{ branch: string; number: string; balance: bigint }[]> {
  return database.query(
    `SELECT branch, number, balance_cents AS balance FROM account
     WHERE kind = 'customer' AND ($1::text IS NULL OR number = $1) ORDER BY number`,
    [number],
  );
}

/** At most `limit` lines of customers with an nsu above `afterNsu`, by account number and nsu. */
export function listPostedLines(
  database: Queryable,
  { account, afterNsu, limit }: { account: string | null; afterNsu: bigint; limit: number },
): Promise<PostedLine[]> {
  return database.query(
    `SELECT account.number AS account_number, movement.idempotency_key, line.nsu,
            line.change_cents, line.shown_type_name, line.end_to_end_id, line.correlation_id,
            line.external_id, line.original_end_to_end_id, line.created_at
     FROM statement_line AS line
     JOIN account ON account.id = line.account_id
     JOIN movement ON movement.id = line.movement_id
     WHERE line.nsu > $2 AND ($1::text IS NULL OR account.number = $1)
     ORDER BY account.number, line.nsu LIMIT $3`,
    [account, afterNsu, limit],
  );
}
