// Reads the statement part of the summary: a broken balance chain, the progress of the first
// import, and the balance that the bank reports.
import type { Db, SqlTx } from '../../platform/postgres/database.service.js';

export interface StatementView {
  broken: { nsu: bigint; since: Date } | null;
  import: {
    lines: bigint;
    oldest: Date | null;
    newest: Date | null;
    startedAt: Date;
    linesPerSecond: number;
  } | null;
  /**
   * Of the last comparison, at the line `nsu`. `agrees` is null once newer lines are stored, and
   * where a block may explain the difference.
   */
  liveBalance: {
    amountCents: bigint;
    blockedCents: bigint | null;
    at: Date;
    nsu: bigint;
    agrees: boolean | null;
  } | null;
}

export async function readStatementView(db: Db, accountId: number): Promise<StatementView> {
  const [row] = await db.$queryRaw<Row[]>`
    SELECT CASE WHEN broken_since IS NOT NULL THEN gap_nsu END AS "brokenNsu",
           broken_since, is_anchored, line_count AS lines, import_started_at AS "startedAt",
           CASE WHEN NOT is_anchored THEN line_count::float8 / GREATEST(
             extract(epoch FROM clock_timestamp() - import_started_at), 0.001) END AS rate,
           CASE WHEN NOT is_anchored THEN (
             SELECT min(occurred_at) FROM statement_line WHERE account_id = ${accountId}
           ) END AS oldest,
           CASE WHEN NOT is_anchored THEN (
             SELECT max(occurred_at) FROM statement_line WHERE account_id = ${accountId}
           ) END AS newest,
           live_balance_cents AS "liveCents", live_balance_at AS "liveAt",
           live_balance_nsu AS "liveNsu", live_blocked_cents AS "blockedCents",
           CASE WHEN live_balance_nsu <> last_nsu THEN NULL
                WHEN live_balance_cents = balance_cents THEN true
                WHEN balance_differs_since IS NOT NULL THEN false END AS agrees
    FROM statement_state s
    WHERE s.account_id = ${accountId}`;
  if (!row) return { broken: null, import: null, liveBalance: null };
  const { brokenNsu, brokenSince, startedAt, lines, oldest, newest, liveCents, liveAt, liveNsu } =
    row;
  const isImporting = !row.isAnchored && startedAt !== null && lines > 0n;
  return {
    broken: brokenNsu !== null && brokenSince ? { nsu: brokenNsu, since: brokenSince } : null,
    import: isImporting
      ? { ...{ lines, oldest, newest, startedAt }, linesPerSecond: Math.round(row.rate ?? 0) }
      : null,
    liveBalance:
      liveCents !== null && liveAt && liveNsu !== null
        ? {
            ...{ amountCents: liveCents, blockedCents: row.blockedCents },
            ...{ at: liveAt, nsu: liveNsu, agrees: row.agrees },
          }
        : null,
  };
}

interface Row {
  blockedCents: bigint | null;
  brokenNsu: bigint | null;
  brokenSince: Date | null;
  isAnchored: boolean;
  lines: bigint;
  startedAt: Date | null;
  rate: number | null;
  oldest: Date | null;
  newest: Date | null;
  liveCents: bigint | null;
  liveAt: Date | null;
  liveNsu: bigint | null;
  agrees: boolean | null;
}

/** How far the statement was read and closed. */
export interface StatementReading {
  lineCount: bigint;
  /** Whether the history was read to its beginning. */
  isAnchored: boolean;
  importStartedAt: Date | null;
  /** Null for the interval of the settings. */
  syncIntervalMs: number | null;
  syncedAt: Date | null;
  closedFrom: Date | null;
  closedUntil: Date | null;
  closingFailures: number;
  closingNextAt: Date | null;
}

/** Null before the first sync. */
export async function findStatementReading(
  db: SqlTx,
  accountId: number,
): Promise<StatementReading | null> {
  const [found] = await db.$queryRaw<StatementReading[]>`
    SELECT line_count, is_anchored, import_started_at, sync_interval_ms, synced_at, closed_from,
           closed_until, closing_failures, closing_next_at
    FROM statement_state WHERE account_id = ${accountId}`;
  return found ?? null;
}
