// The mirror's SQL. Every write carries the token of the sync that makes it: a process that lost its lock
// without knowing writes nothing.
import type { Db, Tx } from '../database.service.js';
import { invariant } from '../platform/errors.js';
import type { StatementLine } from './line.js';
import type { PageOrder } from './paging.js';

/** A sync of an account's statement. */
export interface Sync {
  accountId: number;
  token: string;
}

export interface SyncStart {
  firstHoleNsu: bigint | null;
  /** Whether the mirror is to be read down to the hole: seldom, when that has not mended it. */
  isHoleDue: boolean;
  /** Mirrored lines below the hole, where it is due; all of them otherwise. */
  linesBeforeHole: bigint;
  pageOrder: PageOrder | null;
  pageLines: number;
  isAnchored: boolean;
  /** The database's time at which the sync began. */
  startedAt: Date;
}

/** Begins a sync: from now on no other writes. */
export async function beginSync(db: Db, { accountId, token }: Sync): Promise<SyncStart> {
  const [state] = await db.$queryRaw<SyncStart[]>`
    INSERT INTO statement_state AS s (account_id, sync_token) VALUES (${accountId}, ${token}::uuid)
    ON CONFLICT (account_id) DO UPDATE SET sync_token = EXCLUDED.sync_token
    RETURNING first_hole_nsu AS "firstHoleNsu", page_order AS "pageOrder", page_lines AS "pageLines",
              is_anchored AS "isAnchored",
              clock_timestamp() AS "startedAt",
              first_hole_nsu IS NOT NULL AND COALESCE(hole_next_read_at <= clock_timestamp(), true) AS "isHoleDue",
              CASE WHEN first_hole_nsu IS NOT NULL AND COALESCE(hole_next_read_at <= clock_timestamp(), true)
                THEN (SELECT count(*) FROM "transaction" t WHERE t.account_id = s.account_id AND t.nsu < s.first_hole_nsu)
                ELSE line_count END AS "linesBeforeHole"`;
  invariant(state, 'beginning a sync returned no state');
  return state;
}

/** Holds the right to write for the rest of the transaction; false when a later sync has begun. */
export async function isCurrent(tx: Tx, { accountId, token }: Sync): Promise<boolean> {
  const held = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM statement_state
    WHERE account_id = ${accountId} AND sync_token = ${token}::uuid FOR UPDATE`;
  return held.length === 1;
}

/** What the mirror already has of these lines. */
export async function findKnown(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ nsu: bigint; contentHash: string }[]> {
  return tx.$queryRaw`
    SELECT nsu, content_hash AS "contentHash" FROM "transaction"
    WHERE account_id = ${accountId} AND nsu = ANY (${nsus}::bigint[])`;
}

/** Writes new lines in the order given; `arrival` follows it. */
export async function insertLines(
  tx: Tx,
  accountId: number,
  lines: StatementLine[],
): Promise<void> {
  const column = <Value>(pick: (line: StatementLine) => Value) => lines.map(pick);
  await tx.$executeRaw`
    INSERT INTO "transaction" (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id,
      end_to_end_id, external_id, original_end_to_end_id, movement_id, idempotency_key, bill_code,
      counterparty, counterparty_document, notes, balance_previous_cents,
      current_balance_cents, occurred_at, content_hash, content)
    SELECT ${accountId}, * FROM unnest(
      ${column(({ nsu }) => nsu)}::bigint[], ${column(({ bankId }) => bankId)}::text[],
      ${column(({ isCredit }) => isCredit)}::boolean[], ${column(({ amountCents }) => amountCents)}::bigint[],
      ${column(({ typeName }) => typeName)}::text[], ${column(({ correlationId }) => correlationId)}::text[],
      ${column(({ endToEndId }) => endToEndId)}::text[], ${column(({ externalId }) => externalId)}::text[],
      ${column(({ originalEndToEndId }) => originalEndToEndId)}::text[], ${column(({ movementId }) => movementId)}::text[],
      ${column(({ idempotencyKey }) => idempotencyKey)}::text[], ${column(({ billCode }) => billCode)}::text[],
      ${column(({ counterparty }) => counterparty)}::text[],
      ${column(({ counterpartyDocument }) => counterpartyDocument)}::text[], ${column(({ notes }) => notes)}::text[],
      ${column(({ balancePreviousCents }) => balancePreviousCents)}::bigint[],
      ${column(({ currentBalanceCents }) => currentBalanceCents)}::bigint[],
      ${column(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[],
      ${column(({ contentHash }) => contentHash)}::text[], ${column(({ content }) => content)}::text[])`;
}

/** Until the chain is proved, the mirror counts as not whole from the lowest new line on. */
export async function markUnproved(tx: Tx, accountId: number, inserted: number, lowestNsu: bigint) {
  await tx.$executeRaw`
    UPDATE statement_state
    SET first_hole_nsu = LEAST(first_hole_nsu, ${lowestNsu}), line_count = line_count + ${inserted}
    WHERE account_id = ${accountId}`;
}

export interface SetAside {
  kind: 'unreadable' | 'changed';
  nsu: bigint | null;
  reason: string;
  content: string;
  contentHash: string;
}

export async function insertSetAside(
  tx: Tx,
  accountId: number,
  lines: SetAside[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const { count } = await tx.unreadableLine.createMany({
    data: lines.map((line) => ({ accountId, ...line })),
    skipDuplicates: true,
  });
  return count;
}

/**
 * The first line from `fromNsu` on whose balances do not follow: its own sum, or its neighbour's balance.
 * Null when the chain is unbroken. Starts one line earlier, at the neighbour that is proved already.
 */
export async function findBrokenLink(
  tx: Tx,
  accountId: number,
  fromNsu: bigint,
): Promise<bigint | null> {
  const [broken] = await tx.$queryRaw<{ nsu: bigint }[]>`
    WITH span AS (
      SELECT nsu, balance_previous_cents AS previous, current_balance_cents AS current,
             CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS signed_cents,
             lag(current_balance_cents) OVER (ORDER BY nsu) AS neighbour
      FROM "transaction"
      WHERE account_id = ${accountId} AND nsu >= COALESCE(
        (SELECT max(nsu) FROM "transaction" WHERE account_id = ${accountId} AND nsu < ${fromNsu}),
        ${fromNsu})
    )
    SELECT nsu FROM span
    WHERE previous + signed_cents <> current OR neighbour <> previous
    ORDER BY nsu LIMIT 1`;
  return broken?.nsu ?? null;
}

/** Between readings down to a hole, the third time; doubled each time up to ten minutes. */
const holePauseSeconds = 5;

/** Ends a sync that read everything it had to. */
export async function finishSync(
  tx: Tx,
  { accountId, token }: Sync,
  sync: {
    startedAt: Date;
    firstHoleNsu: bigint | null;
    /** Whether the mirror was read down to the hole that it had. */
    hasReadHole: boolean;
    pageOrder: PageOrder | null;
    pageLines: number;
    clockOffsetMs: number;
  },
): Promise<void> {
  await tx.$executeRaw`
    UPDATE statement_state s
    SET last_nsu = newest.nsu, balance_cents = newest.current_balance_cents,
        first_hole_nsu = ${sync.firstHoleNsu}, page_lines = GREATEST(s.page_lines, ${sync.pageLines}),
        hole_reads = CASE WHEN ${sync.firstHoleNsu}::bigint IS NULL THEN 0
                          ELSE s.hole_reads + ${sync.hasReadHole ? 1 : 0} END,
        hole_next_read_at = CASE
          WHEN ${sync.firstHoleNsu}::bigint IS NULL THEN NULL
          WHEN ${sync.hasReadHole} THEN clock_timestamp() + ${holePauseSeconds} * interval '1 second'
            * CASE WHEN s.hole_reads < 2 THEN 0 ELSE LEAST(2 ^ (s.hole_reads - 2), 120) END
          ELSE s.hole_next_read_at END,
        is_anchored = newest.nsu IS NOT NULL, page_order = COALESCE(${sync.pageOrder}, s.page_order),
        polled_from = ${sync.startedAt}, synced_at = clock_timestamp(), polls = s.polls + 1,
        clock_offset_ms = ${BigInt(sync.clockOffsetMs)}
    FROM (SELECT 1) one LEFT JOIN LATERAL (
      SELECT nsu, current_balance_cents FROM "transaction"
      WHERE account_id = ${accountId} ORDER BY nsu DESC LIMIT 1
    ) newest ON true
    WHERE s.account_id = ${accountId} AND s.sync_token = ${token}::uuid`;
}

/** Accounts whose last completed poll is older than this, or that never had one. */
export async function listOverdue(db: Db, olderThanMs: number): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE s.synced_at IS NULL OR s.synced_at < clock_timestamp() - ${olderThanMs} * interval '1 millisecond'`;
}

/** How often the account is polled, in milliseconds; null: as the settings say. */
export async function recordCadence(
  db: Db,
  accountId: number,
  pauseMs: number | null,
): Promise<void> {
  await db.$executeRaw`
    UPDATE statement_state SET poll_interval_ms = ${pauseMs}::int
    WHERE account_id = ${accountId} AND poll_interval_ms IS DISTINCT FROM ${pauseMs}::int`;
}
