// Reads which days can be certified, the lines of a day with their outcomes, and the chain of
// certificates; stores how far an account's days are closed.
import type { Db, Tx } from '../database.service.js';
import type { DayClose, DayCloseState, StatementLine } from '../generated/service/client.js';
import { explainsItsLine, stateOfLine } from '../reconciliation/api/transactions.queries.js';
import { lineCents } from '../statement/balance-chain.queries.js';
import type { ClosedPeriod } from '../statement/closing.js';
import { hashedColumns } from './certified-lines.queries.js';
import type { FollowingLine } from './cut.js';
import type { HashedFields } from './line-hash.js';

/**
 * Accounts whose next day may be certified, whose certificates must be amended, or that have new
 * lines.
 */
export async function listAccountsWithDaysToClose(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id
    FROM statement_state s LEFT JOIN day_close_state d ON d.account_id = s.account_id
    CROSS JOIN LATERAL (SELECT (d.next_date || 'T03:00:00Z')::timestamptz AS start) day
    WHERE CASE WHEN d.account_id IS NULL THEN s.is_anchored ELSE
      d.amend_from IS NOT NULL OR (
        day.start + interval '24 hours'
          <= clock_timestamp() + s.clock_offset_ms * interval '1 millisecond'
        AND s.closed_from <= day.start AND s.closed_until >= day.start + interval '24 hours'
      ) OR (
        SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = s.account_id
      ) > d.seen_arrival
    END`;
}

export type ClosingState = Pick<DayCloseState, 'nextDate' | 'amendFrom' | 'seenArrival'>;

/**
 * The time of the first line of the history. Null while the history is empty, and until it was read
 * to its beginning once.
 */
export async function findFirstLineTime(db: Db, accountId: number): Promise<Date | null> {
  const [first] = await db.$queryRaw<{ occurredAt: Date }[]>`
    SELECT t.occurred_at FROM statement_state s
    JOIN statement_line t ON t.account_id = s.account_id
    WHERE s.account_id = ${accountId} AND s.is_anchored
    ORDER BY t.occurred_at LIMIT 1`;
  return first?.occurredAt ?? null;
}

/** Days are certified from `firstDate` on. Does nothing if the account has a first day already. */
export async function insertClosingState(
  db: Db,
  accountId: number,
  firstDate: string,
): Promise<void> {
  await db.$executeRaw`
    INSERT INTO day_close_state (account_id, next_date, seen_arrival)
    SELECT ${accountId}, ${firstDate}, COALESCE(max(arrival), 0)
    FROM statement_line WHERE account_id = ${accountId}
    ON CONFLICT (account_id) DO NOTHING`;
}

/** Stores how far the days are closed. The caller holds the lock of `lockClosingState`. */
export async function recordClosingState(
  tx: Tx,
  accountId: number,
  { nextDate, amendFrom, seenArrival }: ClosingState,
): Promise<void> {
  await tx.dayCloseState.updateMany({
    where: { accountId },
    data: { nextDate, amendFrom, seenArrival },
  });
}

/**
 * Reads the closed period, and locks the synced statement against changes until the transaction
 * ends.
 */
export async function lockStatement(tx: Tx, accountId: number): Promise<ClosedPeriod> {
  const [state] = await tx.$queryRaw<ClosedPeriod[]>`
    SELECT closed_from, closed_until
    FROM statement_state WHERE account_id = ${accountId} FOR SHARE`;
  return state ?? { closedFrom: null, closedUntil: null };
}

/** Locks the account's chain until the transaction ends, and reads its next days. */
export async function lockClosingState(tx: Tx, accountId: number): Promise<ClosingState | null> {
  const [state] = await tx.$queryRaw<ClosingState[]>`
    SELECT next_date, amend_from, seen_arrival
    FROM day_close_state WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return state ?? null;
}

export type LateLine = Pick<StatementLine, 'nsu' | 'amountCents' | 'occurredAt'>;

/** The highest arrival number of the account's lines. */
export async function readLastArrival(db: Db, accountId: number): Promise<bigint> {
  const [last] = await db.$queryRaw<{ arrival: bigint | null }[]>`
    SELECT max(arrival) AS arrival FROM statement_line WHERE account_id = ${accountId}`;
  return last?.arrival ?? 0n;
}

/**
 * The lines above the arrival number `seenArrival` that lie before the next day to certify and are
 * in no certificate. Also returns the arrival number up to which they were read, and the lowest nsu
 * of all lines that came since, whatever their time.
 */
export async function listLateLines(
  tx: Tx,
  accountId: number,
  { seenArrival, before }: { seenArrival: bigint; before: Date },
): Promise<{ lines: LateLine[]; lowestNsu: bigint | null; seenArrival: bigint }> {
  const until = await readLastArrival(tx, accountId);
  const lines = await tx.$queryRaw<LateLine[]>`
    SELECT t.nsu, t.amount_cents, t.occurred_at
    FROM statement_line t
    WHERE t.account_id = ${accountId} AND t.arrival > ${seenArrival} AND t.arrival <= ${until}
      AND t.occurred_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM certified_line s WHERE s.account_id = t.account_id AND s.nsu = t.nsu)
    ORDER BY t.occurred_at, t.nsu`;
  const lowest = await tx.statementLine.aggregate({
    where: { accountId, arrival: { gt: seenArrival, lte: until } },
    _min: { nsu: true },
  });
  return { lines, lowestNsu: lowest._min.nsu, seenArrival: until };
}

export interface DayLine extends HashedFields {
  contentHash: string;
  /** Null for a line that is in no certificate. */
  lineHash: string | null;
  state: 'matched' | 'classified' | 'in_break' | 'pending';
  /** The category of a classified line, or the kind of the line's break; null for a match. */
  label: string | null;
}

/** The lines of a day, by nsu, each with its current outcome. */
export async function listDayLines(
  tx: Tx,
  accountId: number,
  { from, until }: { from: Date; until: Date },
): Promise<DayLine[]> {
  return tx.$queryRaw<DayLine[]>`
    SELECT ${hashedColumns}, certified.line_hash,
           ${stateOfLine} AS state, COALESCE(open_break.kind, c.category::text) AS label
    FROM statement_line t
    LEFT JOIN certified_line certified
      ON certified.account_id = t.account_id AND certified.nsu = t.nsu
    LEFT JOIN classification c ON c.account_id = t.account_id AND c.nsu = t.nsu
    LEFT JOIN LATERAL (
      SELECT min(kind) AS kind FROM break WHERE account_id = t.account_id AND nsu = t.nsu
        AND ${explainsItsLine}
    ) open_break ON true
    WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
    ORDER BY t.nsu`;
}

/** The first `count` lines above `afterNsu`, by nsu; null: from the first line on. */
export async function listFollowingLines(
  db: Db,
  accountId: number,
  afterNsu: bigint | null,
  count: number,
): Promise<FollowingLine[]> {
  if (count === 0) return [];
  return db.$queryRaw`
    SELECT nsu, occurred_at, balance_previous_cents, current_balance_cents,
           ${lineCents} AS "signedCents"
    FROM statement_line
    WHERE account_id = ${accountId} AND (${afterNsu}::bigint IS NULL OR nsu > ${afterNsu}::bigint)
    ORDER BY nsu LIMIT ${count}`;
}

/** The last revision of a day's certificate; null if the day is not certified. */
export async function findCurrentCertificate(
  db: Db,
  accountId: number,
  date: string,
): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId, date }, orderBy: { revision: 'desc' } });
}

/**
 * The first certified day whose balance counts lines up to this nsu or further; null if none does.
 * Most new lines have an nsu above all cuts. The last certificate or the certificate of the last
 * day has the highest cut, so only these two are read in that case.
 */
export async function findFirstDayCounting(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<string | null> {
  const [found] = await tx.$queryRaw<{ date: string | null }[]>`
    SELECT min(date) AS date FROM day_close
    WHERE account_id = ${accountId} AND (certificate::jsonb->>'balanceNsu')::bigint >= ${nsu}
      AND (SELECT max((certificate::jsonb->>'balanceNsu')::bigint) FROM (
        (SELECT certificate FROM day_close WHERE account_id = ${accountId}
         ORDER BY sequence DESC LIMIT 1)
        UNION ALL
        (SELECT certificate FROM day_close WHERE account_id = ${accountId}
         ORDER BY date DESC, revision DESC LIMIT 1)
      ) latest) >= ${nsu}`;
  return found?.date ?? null;
}

/** Whether a person resolved the break of the day's difference. */
export async function isDayBreakAccepted(
  db: Db,
  accountId: number,
  subject: string,
): Promise<boolean> {
  const resolution = { not: 'automatic' };
  const where = { accountId, kind: 'broken_balance_chain', subject, resolution };
  return (await db.break.count({ where: { ...where, state: 'resolved' } })) > 0;
}

/** The first certificate of the account's chain. */
export async function findFirstCertificate(db: Db, accountId: number): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId }, orderBy: { sequence: 'asc' } });
}

/** The current certificate of each day, newest day first. */
export async function listCurrentCertificates(
  db: Db,
  accountId: number,
  filters: { from: string | null; to: string | null; beforeDate: string | null; limit: number },
): Promise<DayClose[]> {
  const { from, to, beforeDate, limit } = filters;
  return db.$queryRaw<DayClose[]>`
    SELECT DISTINCT ON (date) * FROM day_close
    WHERE account_id = ${accountId}
      AND (${from}::text IS NULL OR date >= ${from}::text)
      AND (${to}::text IS NULL OR date <= ${to}::text)
      AND (${beforeDate}::text IS NULL OR date < ${beforeDate}::text)
    ORDER BY date DESC, revision DESC LIMIT ${limit}`;
}
