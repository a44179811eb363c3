// Stores statement lines and the state of each account's statement. The callers of every write hold
// a lease in the same transaction: a process that lost its lease writes nothing.
import { syncIntervalOf } from './sync-interval.queries.js';
import {
  arrayColumns,
  jsonTexts,
  withoutWaitForDisk,
  type Db,
  type SqlTx,
  type Tx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import { Prisma, type StatementState } from '../../generated/service/client.js';
import {
  calledAccountColumns,
  type CalledAccount,
} from '../../access/accounts/accounts.queries.js';
import {
  endingLease,
  holdingLease,
  takingLease,
  type Lease,
} from '../../platform/postgres/leases/leases.queries.js';
import type { Gap } from './balance-chain.js';
import {
  offsetOf,
  offsetShownNow,
  setClockOffset,
  type ClockOffset,
} from './bank-clock.queries.js';
import { isBalanceCheckDue } from './live-balance.queries.js';
import type { NewestPage, StatementEnd } from './newest-page.js';
import { erasedHash, type StatementLine } from './statement-line.js';
import type { PageOrder } from './paging.js';

export interface SyncStart extends Pick<
  StatementState,
  | ('firstGapNsu' | 'pageOrder' | 'pageLines' | 'isAnchored' | 'lineCount')
  | ('lastNsu' | 'balanceCents')
  | ('clockOffsetMs' | 'clockOffsetMaxMs' | 'clockMeasuredAt')
> {
  /**
   * Whether pages are read again down to the gap; the longer this does not fill the gap, the longer
   * the pauses between reads.
   */
  isGapDue: boolean;
  /**
   * Whether all pages are read again: where the bank orders pages by time, a late line may be on
   * any page. A full read is due only when the gap is older than the visibility bound. After full
   * reads have not filled the gap, they become rare.
   */
  isFullReadDue: boolean;
  isBroken: boolean;
  /** Whether a whole page is read, and not the newest lines only. */
  isLongReadDue: boolean;
  /** The database's time at which the sync began. */
  startedAt: Date;
}

/** The number of full reads that do not fill a gap before the chain counts as broken. */
const fullReadsBeforeBroken = 2;
/**
 * After that, one in this many reads of a gap is a full read: about every seventeen hours, with the
 * pauses between reads.
 */
const readsPerFullRead = 100;

/**
 * A line that comes late may stand below the newest lines. So a whole page is read once in this
 * many syncs, and while the statement does not show a line that a webhook names. A burst has many
 * syncs a second, and such a page costs as much as all of them: it is not read more than once in
 * this time for their number.
 */
const syncsPerLongRead = 20;
const longReadSeconds = 10;
const longReadTurn = Prisma.sql`to_timestamp(
  floor(extract(epoch FROM clock_timestamp()) / ${longReadSeconds}) * ${longReadSeconds})`;
/** Of the pending webhooks, those that no sync has explained were received first. */
const oldestWebhooks = 100;

/** What a sync begins with, of `statement_state s`. `boundMs` is the visibility bound. */
const syncStart = (boundMs: number) => Prisma.sql`
  s.first_gap_nsu, s.page_order, s.page_lines, s.is_anchored, s.line_count,
  s.clock_offset_ms, s.clock_offset_max_ms, s.clock_measured_at,
  s.broken_since IS NOT NULL AS "isBroken",
  s.last_nsu, s.balance_cents,
  clock_timestamp() AS "startedAt",
  s.syncs - s.syncs_at_long_read >= ${syncsPerLongRead - 1}
    AND s.last_sync_started_at < ${longReadTurn} OR EXISTS (
    SELECT FROM (
      SELECT received_at, reference_kind FROM webhook_event
      WHERE account_id = s.account_id AND state = 'pending'
      ORDER BY received_at LIMIT ${oldestWebhooks}
    ) oldest
    JOIN webhook_health_state h ON h.account_id = s.account_id
      AND oldest.received_at < h.compared_receipt
    WHERE reference_kind IN ('nsu', 'end_to_end_id')
  ) AS "isLongReadDue",
  s.first_gap_nsu IS NOT NULL
    AND COALESCE(s.gap_next_read_at <= clock_timestamp(), true) AS "isGapDue",
  s.gap_nsu IS NOT NULL AND COALESCE(s.gap_next_read_at <= clock_timestamp(), true)
    AND s.gap_since <= clock_timestamp() - ${boundMs} * interval '1 millisecond'
    AND (s.gap_full_reads < ${fullReadsBeforeBroken}
      OR s.gap_reads % ${readsPerFullRead} = 0) AS "isFullReadDue"`;

/** Null unless the first read of the account's history has begun. */
export async function readSyncStart(
  db: Db,
  accountId: number,
  boundMs: number,
): Promise<SyncStart | null> {
  const [state] = await db.$queryRaw<SyncStart[]>`
    SELECT ${syncStart(boundMs)} FROM statement_state s
    WHERE s.account_id = ${accountId} AND (s.is_anchored OR s.import_started_at IS NOT NULL)`;
  return state ?? null;
}

/**
 * Whether webhooks of the account wait to be processed, or lines to be compared with the webhooks
 * that were received.
 */
export const hasUncountedWebhooks = (accountId: number) => Prisma.sql`(
  EXISTS (SELECT FROM webhook_event WHERE account_id = ${accountId} AND state = 'pending')
  OR COALESCE((SELECT max(arrival) FROM statement_line WHERE account_id = ${accountId}), 0)
    > COALESCE((
      SELECT compared_arrival FROM webhook_health_state WHERE account_id = ${accountId}
    ), 0))`;

/** Where a sync finds the account. */
export interface SyncConditions {
  /** Whether the balance that the bank reports is due to be compared. */
  isBalanceDue: boolean;
  /** Whether webhooks wait to be processed, or lines to be compared with webhooks. */
  hasUncounted: boolean;
}

type NullOr<Row> = { [Name in keyof Row]: Row[Name] | null };

export type SyncBeginning = CalledAccount &
  SyncConditions &
  (({ hasBegun: true } & SyncStart) | ({ hasBegun: false } & NullOr<SyncStart>));

/**
 * Takes the lease of the sync, and reads the account and its statement: `hasBegun` is false until
 * the first read of the account's history has begun. Null while another process syncs, and for an
 * account that does not exist.
 */
export async function beginSync(
  db: SqlTx,
  lease: Lease,
  { leaseMs, boundMs }: { leaseMs: number; boundMs: number },
): Promise<SyncBeginning | null> {
  const { accountId } = lease;
  const [beginning] = await db.$queryRaw<SyncBeginning[]>`
    WITH taken AS (${takingLease(lease, leaseMs)})
    SELECT ${calledAccountColumns}, s.account_id IS NOT NULL AS "hasBegun", ${syncStart(boundMs)},
           COALESCE(${isBalanceCheckDue}, false) AS "isBalanceDue",
           ${hasUncountedWebhooks(accountId)} AS "hasUncounted"
    FROM taken CROSS JOIN bank_account a
    LEFT JOIN statement_state s ON s.account_id = a.id
      AND (s.is_anchored OR s.import_started_at IS NOT NULL)
    WHERE a.id = ${accountId} AND ${withoutWaitForDisk}`;
  return beginning ?? null;
}

/** Records that the first read of the account's history begins now. */
export async function beginImport(tx: Tx, accountId: number): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO statement_state AS s (account_id, import_started_at)
    VALUES (${accountId}, clock_timestamp())
    ON CONFLICT (account_id) DO UPDATE SET import_started_at = clock_timestamp()
    WHERE s.import_started_at IS NULL AND NOT s.is_anchored`;
}

/** The lines that one statement counts. */
const countedLines = 500_000;

/** Counts the stored lines below the nsu, in parts. */
export async function countLinesBelow(db: Db, accountId: number, nsu: bigint): Promise<bigint> {
  let total = 0n;
  let after: bigint | null = null;
  for (;;) {
    const above: Prisma.Sql = after === null ? Prisma.empty : Prisma.sql`AND nsu > ${after}`;
    const [part]: { lines: bigint; last: bigint | null }[] = await db.$queryRaw<
      { lines: bigint; last: bigint | null }[]
    >`
      SELECT count(*) AS lines, max(nsu) AS last FROM (
        SELECT nsu FROM statement_line WHERE account_id = ${accountId} AND nsu < ${nsu} ${above}
        ORDER BY nsu LIMIT ${countedLines}) part`;
    if (!part || part.lines === 0n) return total;
    total += part.lines;
    after = part.last;
  }
}

/**
 * Locks the account's statement row for the rest of the transaction. Whoever writes lines holds it,
 * so that the order of arrival is the order of commits.
 */
export async function lockStatementState(
  tx: Tx,
  accountId: number,
): Promise<Pick<StatementState, 'firstGapNsu' | 'balanceCents'>> {
  const [state] = await tx.$queryRaw<Pick<StatementState, 'firstGapNsu' | 'balanceCents'>[]>`
    SELECT first_gap_nsu, balance_cents
    FROM statement_state WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return state ?? { firstGapNsu: null, balanceCents: null };
}

/** The lines with these nsus that are stored already. */
export async function findStoredLines(
  tx: Tx,
  accountId: number,
  nsus: bigint[],
): Promise<{ nsu: bigint; contentHash: string }[]> {
  return tx.$queryRaw`
    SELECT nsu, content_hash FROM statement_line
    WHERE account_id = ${accountId} AND nsu = ANY (${nsus}::bigint[])`;
}

const lineColumns = Prisma.sql`account_id, nsu, bank_id, is_credit, amount_cents, type_name,
  correlation_id, end_to_end_id, external_id, original_end_to_end_id, movement_id,
  idempotency_key, bill_code, counterparty, counterparty_document, counterparty_masked_tax_id,
  counterparty_name, counterparty_ispb, counterparty_branch, counterparty_account, message,
  paid_on, has_one_holder, notes,
  balance_previous_cents, current_balance_cents, occurred_at, content_hash, content`;

/** The values of all columns but the account, a row for each line. */
function lineRows(lines: readonly StatementLine[]): Prisma.Sql {
  const column = arrayColumns(lines);
  return Prisma.sql`unnest(
    ${column(({ nsu }) => nsu, 'bigint')},
    ${column(({ bankId }) => bankId, 'text')},
    ${column(({ isCredit }) => isCredit, 'boolean')},
    ${column(({ amountCents }) => amountCents, 'bigint')},
    ${column(({ typeName }) => typeName, 'text')},
    ${column(({ correlationId }) => correlationId, 'text')},
    ${column(({ endToEndId }) => endToEndId, 'text')},
    ${column(({ externalId }) => externalId, 'text')},
    ${column(({ originalEndToEndId }) => originalEndToEndId, 'text')},
    ${column(({ movementId }) => movementId, 'text')},
    ${column(({ idempotencyKey }) => idempotencyKey, 'text')},
    ${column(({ billCode }) => billCode, 'text')},
    ${column(({ counterparty }) => counterparty, 'text')},
    ${column(({ counterpartyDocument }) => counterpartyDocument, 'text')},
    ${column(({ counterpartyMaskedTaxId }) => counterpartyMaskedTaxId, 'text')},
    ${column(({ counterpartyName }) => counterpartyName, 'text')},
    ${column(({ counterpartyIspb }) => counterpartyIspb, 'text')},
    ${column(({ counterpartyBranch }) => counterpartyBranch, 'text')},
    ${column(({ counterpartyAccount }) => counterpartyAccount, 'text')},
    ${column(({ message }) => message, 'text')},
    ${column(({ paidOn }) => paidOn, 'text')},
    ${column(({ hasOneHolder }) => hasOneHolder, 'boolean')},
    ${column(({ notes }) => notes, 'text')},
    ${column(({ balancePreviousCents }) => balancePreviousCents, 'bigint')},
    ${column(({ currentBalanceCents }) => currentBalanceCents, 'bigint')},
    ${column(({ occurredAt }) => occurredAt.toISOString(), 'timestamptz')},
    ${column(({ contentHash }) => contentHash, 'text')},
    ${jsonTexts(lines.map(({ content }) => content))})`;
}

/** Inserts new lines; `arrival` is assigned in the given order. */
export async function insertStatementLines(
  tx: Tx,
  accountId: number,
  lines: StatementLine[],
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO statement_line (${lineColumns}) SELECT ${accountId}, * FROM ${lineRows(lines)}`;
}

/** What the newest page of the statement shows, and what was stored when the sync began. */
export interface NewestLines extends NewestPage {
  /** The end of the stored statement; null while it has no line. */
  end: StatementEnd | null;
  startedAt: Date;
  bankDate: Date | null;
}

/**
 * Stores the lines that follow the last stored line, completes the sync and ends its lease, in one
 * statement. The account's statement row is locked before `arrival` is assigned. Null, and nothing
 * is stored, unless the lease is held, the statement ends as `end` says and has no gap, and the
 * other lines of the page are stored as the bank shows them.
 */
export async function recordNewestLines(
  db: SqlTx,
  lease: Lease,
  page: NewestLines,
): Promise<ClockOffset | null> {
  const { accountId } = lease;
  const { end, fresh, newEnd, stored, startedAt, bankDate } = page;
  const clock = bankDate
    ? setClockOffset(startedAt, offsetShownNow(bankDate, startedAt))
    : Prisma.empty;
  const order: PageOrder | null = fresh.length + stored.length > 1 ? 'desc' : null;
  const inserted: Prisma.Sql =
    fresh.length === 0
      ? Prisma.empty
      : Prisma.sql`, inserted AS (
          INSERT INTO statement_line (${lineColumns})
          SELECT ${accountId}, line.* FROM state, ${lineRows(fresh)} line
        )`;
  const [synced] = await db.$queryRaw<ClockOffset[]>`
    WITH state AS (
      UPDATE statement_state s
      SET last_nsu = ${newEnd?.nsu ?? null}, balance_cents = ${newEnd?.balanceCents ?? null},
          line_count = s.line_count + ${fresh.length},
          page_order = COALESCE(s.page_order, ${order}),
          page_lines = GREATEST(s.page_lines, ${fresh.length + stored.length}),
          last_sync_started_at = ${startedAt}, synced_at = clock_timestamp(), syncs = s.syncs + 1,
          read_failure = NULL, read_failed_since = NULL,
          first_synced_at = COALESCE(s.first_synced_at, clock_timestamp())
          ${clock}
      FROM (${holdingLease(lease)}) held
      WHERE s.account_id = ${accountId} AND s.is_anchored = ${end !== null}
        AND (s.page_order = 'desc' OR s.page_order IS NULL)
        AND s.last_nsu IS NOT DISTINCT FROM ${end?.nsu ?? null}::bigint
        AND s.balance_cents IS NOT DISTINCT FROM ${end?.balanceCents ?? null}::bigint
        AND s.first_gap_nsu IS NULL AND s.gap_nsu IS NULL AND s.broken_since IS NULL
        AND ${stored.length} = (
          SELECT count(*) FROM statement_line line
          JOIN unnest(${stored.map(({ nsu }) => nsu)}::bigint[],
                      ${stored.map(({ contentHash }) => contentHash)}::text[])
            AS shown (nsu, content_hash) ON shown.nsu = line.nsu
          WHERE line.account_id = ${accountId}
            AND line.content_hash IN (shown.content_hash, ${erasedHash}))
        AND NOT EXISTS (
          SELECT FROM unreadable_line WHERE account_id = ${accountId} AND resolved_at IS NULL
            AND nsu = ANY (${[...fresh, ...stored].map(({ nsu }) => nsu)}::bigint[]))
        AND ${withoutWaitForDisk}
      RETURNING s.clock_offset_ms::float8, s.clock_offset_max_ms::float8
    )${inserted}, ended AS (${endingLease(lease)} AND EXISTS (SELECT FROM state))
    SELECT clock_offset_ms, clock_offset_max_ms FROM state`;
  return synced ?? null;
}

/**
 * Marks the chain as unchecked from the lowest new line on: until it is checked, the statement is
 * not complete. The page order and page length are stored as well, so that an interrupted import
 * resumes where it ended.
 */
export async function markChainUnchecked(
  tx: Tx,
  accountId: number,
  page: { inserted: number; lowestNsu: bigint; lines: number; order: PageOrder | null },
) {
  await tx.$executeRaw`
    UPDATE statement_state
    SET first_gap_nsu = LEAST(first_gap_nsu, ${page.lowestNsu}),
        line_count = line_count + ${page.inserted},
        page_lines = GREATEST(page_lines, ${page.lines}),
        page_order = COALESCE(${page.order}, page_order)
    WHERE account_id = ${accountId}`;
}

/**
 * The pause after the third read of a gap; it doubles with each further read, up to ten minutes.
 */
const gapPauseSeconds = 5;

/** Completes a sync that read all pages due. Returns whether the chain counts as broken now. */
export async function finishSync(
  tx: Tx,
  accountId: number,
  sync: {
    startedAt: Date;
    gap: Gap | null;
    /**
     * The balance that the chain reached; null if it is the balance on the line with the highest
     * nsu.
     */
    balanceCents: bigint | null;
    /** Whether pages were read down to the known gap. */
    hasReadGap: boolean;
    /** Whether all pages were read. */
    hasReadAll: boolean;
    pageOrder: PageOrder | null;
    pageLines: number;
    clock: ClockOffset | null;
  },
): Promise<boolean> {
  const { gap, startedAt, clock } = sync;
  const [state] = await tx.$queryRaw<{ isBroken: boolean }[]>`
    UPDATE statement_state s
    SET last_nsu = newest.nsu,
        balance_cents = COALESCE(${sync.balanceCents}, newest.current_balance_cents),
        first_gap_nsu = ${gap?.nsu ?? null}, page_lines = GREATEST(s.page_lines, ${sync.pageLines}),
        gap_nsu = ${gap?.nsu ?? null}, gap_after_nsu = ${gap?.afterNsu ?? null},
        gap_balance_cents = ${gap?.balanceCents ?? null},
        gap_reads = found.reads, gap_full_reads = found.full_reads,
        gap_since = CASE WHEN found.is_same THEN s.gap_since
                          WHEN ${gap?.nsu ?? null}::bigint IS NOT NULL THEN clock_timestamp() END,
        broken_since = CASE WHEN found.is_same AND found.full_reads >= ${fullReadsBeforeBroken}
          THEN COALESCE(s.broken_since, clock_timestamp()) END,
        gap_next_read_at = CASE
          WHEN NOT found.is_same THEN NULL
          WHEN ${sync.hasReadGap} THEN clock_timestamp() + ${gapPauseSeconds} * interval '1 second'
            * CASE WHEN s.gap_reads < 2 THEN 0 ELSE LEAST(2 ^ (s.gap_reads - 2), 120) END
          ELSE s.gap_next_read_at END,
        is_anchored = newest.nsu IS NOT NULL,
        page_order = COALESCE(${sync.pageOrder}, s.page_order),
        last_sync_started_at = ${startedAt}, synced_at = clock_timestamp(),
        read_failure = NULL, read_failed_since = NULL,
        first_synced_at = COALESCE(s.first_synced_at, clock_timestamp()),
        syncs = s.syncs + 1, syncs_at_long_read = s.syncs + 1
        ${clock ? setClockOffset(startedAt, offsetOf(clock)) : Prisma.empty}
    FROM (
      SELECT g.is_same,
             CASE WHEN g.is_same
               THEN g.gap_reads + ${sync.hasReadGap ? 1 : 0} ELSE 0 END AS reads,
             CASE WHEN g.is_same
               THEN g.gap_full_reads + ${sync.hasReadAll ? 1 : 0} ELSE 0 END AS full_reads
      FROM (
        SELECT COALESCE(gap_nsu = ${gap?.nsu ?? null}, false) AS is_same,
               gap_reads, gap_full_reads
        FROM statement_state
        WHERE account_id = ${accountId}
      ) g
    ) found LEFT JOIN LATERAL (
      SELECT nsu, current_balance_cents FROM statement_line
      WHERE account_id = ${accountId} ORDER BY nsu DESC LIMIT 1
    ) newest ON true
    WHERE s.account_id = ${accountId}
    RETURNING s.broken_since IS NOT NULL AS "isBroken"`;
  return state?.isBroken ?? false;
}

/**
 * Accounts without a completed sync, or whose last completed sync is more than `intervals` of their
 * sync intervals ago.
 */
export async function listOverdueAccounts(
  db: Reader,
  intervals: number,
  configuredMs: number,
): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT a.id AS "accountId" FROM bank_account a
    LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE s.synced_at IS NULL OR s.synced_at < clock_timestamp()
      - ${intervals} * ${syncIntervalOf(configuredMs)} * interval '1 millisecond'
      -- PostgreSQL's clock was set back.
      OR s.synced_at > clock_timestamp()`;
}

/**
 * Spreads the accounts evenly over the interval: the multiples of this number, without their whole
 * part, are spread evenly between 0 and 1.
 */
const goldenRatio = 0.618_033_988_75;

/**
 * Accounts whose sync is due; `isAll`: all accounts. Syncs of an account are due one interval
 * apart, at its own part of the interval by PostgreSQL's clock, so that processes agree when. It is
 * due while no sync that has completed began since then. `sinceMs`: how long ago it became due.
 */
export async function listDueSyncs(
  db: Reader,
  configuredMs: number,
  isAll: boolean,
): Promise<{ accountId: number; sinceMs: number }[]> {
  return db.$queryRaw`
    SELECT account_id, (passed - floor(passed)) * interval_ms AS "sinceMs"
    FROM (
      SELECT a.id AS account_id, s.last_sync_started_at, i.interval_ms, n.now,
             extract(epoch FROM n.now)::float8 * 1000 / i.interval_ms
               - (a.id * ${goldenRatio}::float8 - floor(a.id * ${goldenRatio}::float8)) AS passed
      FROM bank_account a
      LEFT JOIN statement_state s ON s.account_id = a.id
      CROSS JOIN LATERAL (
        SELECT ${syncIntervalOf(configuredMs)}::float8 AS interval_ms
      ) i
      CROSS JOIN (SELECT clock_timestamp() AS now) n
    ) each
    WHERE ${isAll} OR last_sync_started_at IS NULL
      OR last_sync_started_at < now - (passed - floor(passed)) * interval_ms
                                      * interval '1 millisecond'
      -- PostgreSQL's clock was set back.
      OR last_sync_started_at > now
    ORDER BY account_id`;
}

/** Sets the account's sync interval in milliseconds; null: the configured interval. */
export async function setSyncInterval(db: Db, accountId: number, intervalMs: number | null) {
  await db.$executeRaw`
    INSERT INTO statement_state (account_id, sync_interval_ms) VALUES (${accountId}, ${intervalMs})
    ON CONFLICT (account_id) DO UPDATE SET sync_interval_ms = EXCLUDED.sync_interval_ms
    WHERE statement_state.sync_interval_ms IS DISTINCT FROM EXCLUDED.sync_interval_ms`;
}
