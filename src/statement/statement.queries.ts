// The mirror's SQL. Every write carries the token of the sync that makes it: a process that lost its lock
// without knowing writes nothing.
import type { Db, Tx } from '../database.service.js';
import { invariant } from '../platform/errors.js';
import type { Gap } from './chain.js';
import type { StatementLine } from './line.js';
import type { PageOrder } from './paging.js';

/** A sync of an account's statement. */
export interface Sync {
  accountId: number;
  token: string;
}

export interface SyncStart {
  firstGapNsu: bigint | null;
  /** Whether the mirror is to be read down to the hole: seldom, when that has not mended it. */
  isGapDue: boolean;
  /**
   * Whether that goes on to the last page: where pages come by time, a late line may stand on any of them. Not before
   * the hole is older than an effect can be late, and seldom once that has not mended it.
   */
  isFullReadDue: boolean;
  /** Mirrored lines below the hole, where it is due; all of them otherwise, as while the history is first read. */
  linesBeforeGap: bigint;
  pageOrder: PageOrder | null;
  pageLines: number;
  isAnchored: boolean;
  /** All mirrored lines. */
  lineCount: bigint;
  isBroken: boolean;
  /** What the chain has come to. */
  balanceCents: bigint | null;
  /** The database's time at which the sync began. */
  startedAt: Date;
}

/** As often all pages are read again before nobody believes any more that a hole is filled. */
const readsBeforeBroken = 2;
/** Behind that each so manieth reading down to a hole goes on to the last page: some seventeen hours, by their pauses. */
const readsPerFullRead = 100;

/** Begins a sync: from now on no other writes. `boundMs` is how late an effect may show. */
export async function beginSync(
  db: Db,
  { accountId, token }: Sync,
  boundMs: number,
): Promise<SyncStart> {
  const [state] = await db.$queryRaw<SyncStart[]>`
    INSERT INTO statement_state AS s (account_id, sync_token, import_started_at)
    VALUES (${accountId}, ${token}::uuid, clock_timestamp())
    ON CONFLICT (account_id) DO UPDATE SET sync_token = EXCLUDED.sync_token,
      import_started_at = COALESCE(s.import_started_at, CASE WHEN NOT s.is_anchored THEN clock_timestamp() END)
    RETURNING first_gap_nsu AS "firstGapNsu", page_order AS "pageOrder", page_lines AS "pageLines",
              is_anchored AS "isAnchored", line_count AS "lineCount", broken_since IS NOT NULL AS "isBroken",
              balance_cents AS "balanceCents",
              clock_timestamp() AS "startedAt",
              first_gap_nsu IS NOT NULL AND COALESCE(gap_next_read_at <= clock_timestamp(), true) AS "isGapDue",
              gap_nsu IS NOT NULL AND COALESCE(gap_next_read_at <= clock_timestamp(), true)
                AND gap_since <= clock_timestamp() - ${boundMs} * interval '1 millisecond'
                AND (gap_full_reads < ${readsBeforeBroken} OR gap_reads % ${readsPerFullRead} = 0) AS "isFullReadDue",
              CASE WHEN is_anchored AND first_gap_nsu IS NOT NULL AND COALESCE(gap_next_read_at <= clock_timestamp(), true)
                THEN (SELECT count(*) FROM statement_line t WHERE t.account_id = s.account_id AND t.nsu < s.first_gap_nsu)
                ELSE line_count END AS "linesBeforeGap"`;
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
    SELECT nsu, content_hash AS "contentHash" FROM statement_line
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
    INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name, correlation_id,
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

/**
 * Until the chain is proved, the mirror counts as not whole from the lowest new line on. What the pages look like is kept
 * with them, so that a first reading that was cut off goes on where it was.
 */
export async function markUnproven(
  tx: Tx,
  accountId: number,
  page: { inserted: number; lowestNsu: bigint; lines: number; order: PageOrder | null },
) {
  await tx.$executeRaw`
    UPDATE statement_state
    SET first_gap_nsu = LEAST(first_gap_nsu, ${page.lowestNsu}), line_count = line_count + ${page.inserted},
        page_lines = GREATEST(page_lines, ${page.lines}), page_order = COALESCE(${page.order}, page_order)
    WHERE account_id = ${accountId}`;
}

/** Between readings down to a hole, the third time; doubled each time up to ten minutes. */
const gapPauseSeconds = 5;

/** Ends a sync that read everything it had to; whether the chain counts as broken now. */
export async function finishSync(
  tx: Tx,
  { accountId, token }: Sync,
  sync: {
    startedAt: Date;
    gap: Gap | null;
    /** What the chain has come to, where that is not what the line with the highest number says. */
    balanceCents: bigint | null;
    /** Whether the mirror was read down to the hole that it had. */
    hasReadGap: boolean;
    /** And on to the last page. */
    hasReadAll: boolean;
    pageOrder: PageOrder | null;
    pageLines: number;
    clockOffsetMs: number;
  },
): Promise<boolean> {
  const { gap } = sync;
  const [state] = await tx.$queryRaw<{ isBroken: boolean }[]>`
    UPDATE statement_state s
    SET last_nsu = newest.nsu, balance_cents = COALESCE(${sync.balanceCents}, newest.current_balance_cents),
        first_gap_nsu = ${gap?.nsu ?? null}, page_lines = GREATEST(s.page_lines, ${sync.pageLines}),
        gap_nsu = ${gap?.nsu ?? null}, gap_after_nsu = ${gap?.afterNsu ?? null},
        gap_balance_cents = ${gap?.balanceCents ?? null},
        gap_reads = found.reads, gap_full_reads = found.full_reads,
        gap_since = CASE WHEN found.is_same THEN s.gap_since
                          WHEN ${gap?.nsu ?? null}::bigint IS NOT NULL THEN clock_timestamp() END,
        broken_since = CASE WHEN found.is_same AND found.full_reads >= ${readsBeforeBroken}
          THEN COALESCE(s.broken_since, clock_timestamp()) END,
        gap_next_read_at = CASE
          WHEN NOT found.is_same THEN NULL
          WHEN ${sync.hasReadGap} THEN clock_timestamp() + ${gapPauseSeconds} * interval '1 second'
            * CASE WHEN s.gap_reads < 2 THEN 0 ELSE LEAST(2 ^ (s.gap_reads - 2), 120) END
          ELSE s.gap_next_read_at END,
        is_anchored = newest.nsu IS NOT NULL, page_order = COALESCE(${sync.pageOrder}, s.page_order),
        last_sync_started_at = ${sync.startedAt}, synced_at = clock_timestamp(), syncs = s.syncs + 1,
        clock_offset_ms = ${BigInt(sync.clockOffsetMs)},
        first_clock_offset_ms = CASE WHEN s.syncs = 0 THEN ${BigInt(sync.clockOffsetMs)}
                                     ELSE s.first_clock_offset_ms END
    FROM (
      SELECT h.is_same, CASE WHEN h.is_same THEN h.gap_reads + ${sync.hasReadGap ? 1 : 0} ELSE 0 END AS reads,
             CASE WHEN h.is_same THEN h.gap_full_reads + ${sync.hasReadAll ? 1 : 0} ELSE 0 END AS full_reads
      FROM (
        SELECT COALESCE(gap_nsu = ${gap?.nsu ?? null}, false) AS is_same, gap_reads, gap_full_reads
        FROM statement_state
        WHERE account_id = ${accountId}
      ) h
    ) found LEFT JOIN LATERAL (
      SELECT nsu, current_balance_cents FROM statement_line
      WHERE account_id = ${accountId} ORDER BY nsu DESC LIMIT 1
    ) newest ON true
    WHERE s.account_id = ${accountId} AND s.sync_token = ${token}::uuid
    RETURNING s.broken_since IS NOT NULL AS "isBroken"`;
  return state?.isBroken ?? false;
}

/** Accounts whose last completed poll is so many of their intervals ago, or that never had one. */
export async function listOverdue(
  db: Db,
  intervals: number,
  usualMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE s.synced_at IS NULL OR s.synced_at < clock_timestamp()
      - ${intervals} * COALESCE(s.sync_interval_ms, ${usualMs}) * interval '1 millisecond'`;
}

/** How often each account is polled, in milliseconds; null where nobody has said. */
export async function listCadences(
  db: Db,
): Promise<{ accountId: number; intervalMs: number | null }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId", s.sync_interval_ms AS "intervalMs" FROM bank_account a
    LEFT JOIN statement_state s ON s.account_id = a.id ORDER BY a.id`;
}

export async function setCadence(db: Db, accountId: number, intervalMs: number | null) {
  await db.$executeRaw`
    INSERT INTO statement_state (account_id, sync_interval_ms) VALUES (${accountId}, ${intervalMs})
    ON CONFLICT (account_id) DO UPDATE SET sync_interval_ms = EXCLUDED.sync_interval_ms
    WHERE statement_state.sync_interval_ms IS DISTINCT FROM EXCLUDED.sync_interval_ms`;
}
