// Marks webhooks as processed: those whose reference the statement shows once a sync that began
// after their receipt has completed. A webhook is compared with the stored lines once; from then on
// each new line is compared with the webhooks that wait. So no row changes while it waits, however
// often the sync is repeated. The counts of the account must be locked for all of it.
import type { Db, Tx, Reader } from '../../platform/postgres/database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { reportsOf } from './webhook-reports.queries.js';
import { bankClockLead } from './webhooks.queries.js';

/** Bounds how long a run keeps the database from storing new webhooks. */
const maxProcessed = 1_000;
const maxCompared = 10_000;
/** If more webhooks than these came after a sync had begun, it is repeated without a look. */
const maxLookedUp = 100;
/**
 * A webhook may be committed after a comparison that covers its receipt. The webhooks of this time
 * before it are compared again. One that is committed later still waits until a new line shows its
 * reference, or to the end.
 */
const lateMs = 500;

const lead = Prisma.raw(bankClockLead);
const ms = (count: Prisma.Sql | number) => Prisma.sql`${count} * interval '1 millisecond'`;

/** When the newest line was stored that shows the reference of a webhook (w); null without one. */
const shownAt = Prisma.sql`CASE w.reference_kind
  WHEN 'nsu' THEN (
    SELECT t.recorded_at FROM statement_line t
    WHERE t.account_id = w.account_id AND t.nsu = w.reference::bigint)
  WHEN 'end_to_end_id' THEN (
    SELECT max(t.recorded_at) FROM statement_line t
    WHERE t.account_id = w.account_id AND t.end_to_end_id = w.reference)
  -- A static QR code has many lines.
  WHEN 'correlation_id' THEN (
    SELECT t.recorded_at FROM statement_line t
    WHERE t.account_id = w.account_id AND t.correlation_id = w.reference
    ORDER BY t.nsu DESC LIMIT 1) END`;

/** Whether the statement shows the reference of a webhook (w). */
const isShown = Prisma.sql`(w.reference IS NULL OR ${shownAt} IS NOT NULL)`;

/**
 * Locks webhooks (found), in the order in which copies of them are counted: two statements that
 * lock the same rows never wait for each other. Returns where the rows are now.
 */
const lockFound = (accountId: number, found: Prisma.Sql) => Prisma.sql`
  SELECT locked.ctid, found.* FROM (
    SELECT * FROM (${found}) found ORDER BY event_type, body_hash OFFSET 0
  ) found
  CROSS JOIN LATERAL (
    SELECT ctid FROM webhook_event w
    WHERE w.account_id = ${accountId} AND w.event_type = found.event_type
      AND w.body_hash = found.body_hash AND w.state = 'pending'
    FOR NO KEY UPDATE
  ) locked`;

/** The places of rows that are locked: a later statement of the transaction finds them there. */
export type RowPlaces = string[];

export interface FoundWebhooks {
  /** Those that are to be processed. */
  processable: RowPlaces;
  /** Those that wait, and whose receipt in the bank's time is not by the offset of this sync. */
  misdated: RowPlaces;
  /** The webhooks that were received between these times are compared for the first time. */
  comparedFrom: Date;
  comparedUntil: Date;
  /** False if there may be more webhooks than one run processes. */
  isComplete: boolean;
}

/**
 * Compares the webhooks that were received before the last sync with the lines, and finds those
 * that have waited for `maxWaitMs`. Null before the first sync.
 */
export async function findProcessable(
  tx: Tx,
  accountId: number,
  maxWaitMs: number,
): Promise<FoundWebhooks | null> {
  const pending = (from: Prisma.Sql, until: Prisma.Sql) => Prisma.sql`
    SELECT w.account_id, w.event_type, w.body_hash, w.received_at, w.received_at_bank_time,
           w.reference_kind, w.reference
    FROM state CROSS JOIN LATERAL (
      SELECT * FROM webhook_event w
      WHERE w.account_id = ${accountId} AND w.state = 'pending'
        AND w.received_at >= ${from} AND w.received_at < ${until}
      ORDER BY w.received_at LIMIT ${maxCompared}
    ) w`;
  const always = Prisma.sql`'-infinity'::timestamptz`;
  const late = Prisma.sql`state.compared - ${ms(lateMs)}`;
  const [found] = await tx.$queryRaw<FoundWebhooks[]>`
    WITH state AS MATERIALIZED (
      SELECT s.last_sync_started_at AS synced, ${lead} AS lead,
             -- Later only if PostgreSQL's clock was set back.
             LEAST(h.compared_receipt, s.last_sync_started_at) AS compared
      FROM statement_state s JOIN webhook_health_state h ON h.account_id = s.account_id
      WHERE s.account_id = ${accountId} AND s.last_sync_started_at IS NOT NULL
    ), next AS MATERIALIZED (
      ${pending(Prisma.sql`state.compared`, Prisma.sql`state.synced`)}
    ), compared AS MATERIALIZED (
      SELECT w.*, ${isShown} AS is_shown
      FROM (
        SELECT * FROM next
        UNION ALL
        (${pending(late, Prisma.sql`LEAST(state.compared, state.synced)`)})
      ) w
    ), chosen AS MATERIALIZED (
      SELECT event_type, body_hash, received_at, is_shown
      FROM compared w, state
      WHERE is_shown OR (w.received_at >= state.compared
        AND w.received_at_bank_time <> w.received_at + lead)
      ORDER BY received_at LIMIT ${maxProcessed}
    ), expired AS MATERIALIZED (
      SELECT w.event_type, w.body_hash, w.received_at, true AS is_shown
      FROM (${pending(always, Prisma.sql`state.synced - ${ms(maxWaitMs)}`)}) w
      LIMIT ${maxProcessed}
    ), locked AS MATERIALIZED (
      ${lockFound(accountId, Prisma.sql`SELECT * FROM chosen UNION SELECT * FROM expired`)}
    )
    SELECT ARRAY(SELECT ctid::text FROM locked WHERE is_shown) AS processable,
           ARRAY(SELECT ctid::text FROM locked WHERE NOT is_shown) AS misdated,
           compared AS "comparedFrom",
           GREATEST(compared, CASE WHEN chosen.count = ${maxProcessed} THEN chosen.until
                                   WHEN next.count = ${maxCompared} THEN next.until
                                   ELSE synced END) AS "comparedUntil",
           chosen.count < ${maxProcessed} AND next.count < ${maxCompared}
             AND expired.count < ${maxProcessed} AS "isComplete"
    FROM state,
         (SELECT count(*), max(received_at) AS until FROM chosen) chosen,
         (SELECT count(*), max(received_at) AS until FROM next) next,
         (SELECT count(*) FROM expired) expired`;
  return found ?? null;
}

/** The waiting webhooks whose reference is shown by lines that arrived after `after`. */
export async function findShown(
  tx: Tx,
  accountId: number,
  { after, until }: { after: bigint; until: bigint },
): Promise<RowPlaces> {
  // Each reference is looked up once: a static QR code is paid, and reported, by many.
  const waiting = (kind: string, column: string) => Prisma.sql`
    SELECT w.event_type, w.body_hash
    FROM (SELECT DISTINCT ${Prisma.raw(column)} FROM arrived) t
    CROSS JOIN LATERAL (
      SELECT event_type, body_hash FROM webhook_event w
      WHERE w.account_id = ${accountId} AND w.reference_kind = ${Prisma.raw(`'${kind}'`)}
        AND w.reference = t.${Prisma.raw(column)} AND w.state = 'pending'
        AND w.received_at < (SELECT last_sync_started_at FROM statement_state
                             WHERE account_id = ${accountId})
      OFFSET 0
    ) w`;
  const [found] = await tx.$queryRaw<{ places: RowPlaces }[]>`
    WITH arrived AS MATERIALIZED (
      SELECT nsu::text AS nsu, end_to_end_id, correlation_id FROM statement_line
      WHERE account_id = ${accountId} AND arrival > ${after} AND arrival <= ${until}
        AND EXISTS (
          SELECT FROM webhook_event WHERE account_id = ${accountId} AND state = 'pending')
    ), locked AS MATERIALIZED (
      ${lockFound(
        accountId,
        Prisma.sql`
          ${waiting('nsu', 'nsu')}
          UNION ${waiting('end_to_end_id', 'end_to_end_id')}
          UNION ${waiting('correlation_id', 'correlation_id')}`,
      )}
    )
    SELECT ARRAY(SELECT ctid::text FROM locked) AS places`;
  return found?.places ?? [];
}

export interface ProcessedWebhooks {
  places: RowPlaces;
  /** From the receipt of each webhook until now. */
  processingSeconds: number[];
  /** From the movement to the receipt of those that name one line. */
  delaySeconds: number[];
  /** Those that say what their line leaves open, for `recordReports`. */
  reports: string[];
}

export const nothingProcessed: ProcessedWebhooks = {
  ...{ places: [], processingSeconds: [], delaySeconds: [], reports: [] },
};

/**
 * Marks webhooks as processed. The receipt of those that were received from `datedFrom` on is
 * corrected to the bank's time, by the clock offset of the first sync after it.
 */
export async function markProcessed(
  tx: Tx,
  accountId: number,
  places: RowPlaces,
  datedFrom: Date | null,
): Promise<ProcessedWebhooks> {
  if (places.length === 0) return nothingProcessed;
  const [result] = await tx.$queryRaw<ProcessedWebhooks[]>`
    WITH processed AS (
      UPDATE webhook_event e
      SET state = 'processed', processed_at = clock_timestamp(),
          received_at_bank_time = CASE WHEN e.received_at >= ${datedFrom}::timestamptz
            THEN e.received_at + ${lead} ELSE e.received_at_bank_time END
      FROM statement_state s
      WHERE s.account_id = ${accountId} AND e.account_id = ${accountId}
        AND e.ctid = ANY (${places}::text[]::tid[])
      RETURNING e.ctid, e.reference_kind, e.reference, e.processed_at, e.received_at,
                e.received_at_bank_time, e.event_type, e.body
    )
    SELECT ARRAY(SELECT ctid::text FROM processed) AS places,
           ARRAY(SELECT extract(epoch FROM processed_at - received_at)::float8 FROM processed)
             AS "processingSeconds",
           -- A charge may be paid more than once: which payment its webhook reports is not known.
           ARRAY(
             SELECT extract(epoch FROM
                      GREATEST(interval '0', received_at_bank_time - line.occurred_at))::float8
             FROM processed CROSS JOIN LATERAL (
               SELECT t.occurred_at FROM statement_line t
               WHERE t.account_id = ${accountId} AND reference_kind = 'nsu'
                 AND t.nsu = CASE WHEN reference_kind = 'nsu' THEN reference::bigint END
               UNION ALL
               SELECT t.occurred_at FROM statement_line t
               WHERE t.account_id = ${accountId} AND reference_kind = 'end_to_end_id'
                 AND t.end_to_end_id = reference
               LIMIT 1
             ) line
           ) AS "delaySeconds",
           ARRAY(${reportsOf(accountId)}) AS reports`;
  return result ?? nothingProcessed;
}

/** Corrects the receipt of webhooks that wait, and records how far they are compared. */
export async function recordCompared(
  tx: Tx,
  accountId: number,
  { misdated, comparedUntil }: FoundWebhooks,
): Promise<void> {
  if (misdated.length > 0)
    await tx.$executeRaw`
      UPDATE webhook_event e SET received_at_bank_time = e.received_at + ${lead}
      FROM statement_state s
      WHERE s.account_id = ${accountId} AND e.account_id = ${accountId}
        AND e.ctid = ANY (${misdated}::text[]::tid[])`;
  await tx.$executeRaw`
    UPDATE webhook_health_state SET compared_receipt = ${comparedUntil}
    WHERE account_id = ${accountId} AND compared_receipt <> ${comparedUntil}`;
}

/**
 * In how many milliseconds the next sync is due for the webhooks that wait: the sync is repeated at
 * these times after a receipt, and is due at once for those that came after the last one had begun.
 * Those among them whose line it has stored wait for the next sync, or for the sweeper: most
 * payments send two webhooks, and each would cost a sync. Null if none waits for one.
 */
export async function findNextRepeatMs(
  db: Db,
  accountId: number,
  repeatsAfterMs: readonly number[],
): Promise<number | null> {
  const [next] = await db.$queryRaw<{ inMs: number | null }[]>`
    SELECT CASE WHEN (
      SELECT bool_or((${shownAt} >= received_at) IS NOT TRUE) OR count(*) = ${maxLookedUp} FROM (
        SELECT * FROM webhook_event WHERE account_id = ${accountId} AND state = 'pending'
          AND received_at >= COALESCE((
            SELECT last_sync_started_at FROM statement_state WHERE account_id = ${accountId}
          ), '-infinity')
          -- After PostgreSQL's clock was set back, no sync begins after the receipt for a while.
          AND received_at <= (SELECT clock_timestamp())
        ORDER BY received_at LIMIT ${maxLookedUp}
      ) w
    ) THEN 0 ELSE (
      SELECT (extract(epoch FROM min(w.received_at + ${ms(Prisma.sql`repeat.ms`)})
               - clock_timestamp()) * 1000)::float8
      FROM statement_state s JOIN webhook_health_state h ON h.account_id = s.account_id
      CROSS JOIN unnest(${[...repeatsAfterMs]}::int[]) repeat(ms)
      CROSS JOIN LATERAL (
        SELECT received_at FROM webhook_event
        WHERE account_id = ${accountId} AND state = 'pending'
          AND received_at >= s.last_sync_started_at - ${ms(Prisma.sql`repeat.ms`)}
          AND received_at < h.compared_receipt
        ORDER BY received_at LIMIT 1
      ) w
      WHERE s.account_id = ${accountId}
    ) END AS "inMs"`;
  return next?.inMs ?? null;
}

/**
 * Accounts whose pending webhooks should have been compared by now, or for which a repeated sync
 * should have begun, or which have waited to the end.
 */
export async function listAccountsWithOverdueWebhooks(
  db: Reader,
  repeatsAfterMs: readonly number[],
): Promise<{ accountId: number }[]> {
  const firstFrom = (from: Prisma.Sql) => Prisma.sql`
    SELECT received_at FROM webhook_event
    WHERE account_id = pending.account_id AND state = 'pending' AND received_at >= ${from}
    ORDER BY received_at LIMIT 1`;
  return db.$queryRaw`
    WITH RECURSIVE pending AS (
      SELECT min(account_id) AS account_id FROM webhook_event WHERE state = 'pending'
      UNION ALL
      SELECT (SELECT min(account_id) FROM webhook_event
              WHERE state = 'pending' AND account_id > pending.account_id)
      FROM pending WHERE pending.account_id IS NOT NULL
    )
    SELECT pending.account_id AS "accountId"
    FROM pending
    LEFT JOIN statement_state s ON s.account_id = pending.account_id
    LEFT JOIN webhook_health_state h ON h.account_id = pending.account_id
    CROSS JOIN LATERAL (
      (${firstFrom(Prisma.sql`COALESCE(h.compared_receipt, '-infinity')`)})
      UNION ALL
      SELECT w.received_at + ${ms(Prisma.sql`repeat.ms`)}
      FROM unnest(${[...repeatsAfterMs]}::int[]) repeat(ms)
      CROSS JOIN LATERAL (
        ${firstFrom(Prisma.sql`s.last_sync_started_at - ${ms(Prisma.sql`repeat.ms`)}`)}
      ) w
      UNION ALL
      SELECT w.received_at FROM (${firstFrom(Prisma.sql`'-infinity'`)}) w
      WHERE w.received_at < s.last_sync_started_at - ${ms(repeatsAfterMs.at(-1) ?? 0)}
    ) due(at)
    WHERE pending.account_id IS NOT NULL
    GROUP BY pending.account_id
    HAVING min(due.at) < clock_timestamp() - interval '1 second'`;
}
