// Reads which days can be certified, lines that came late, and the chain of certificates; stores
// how far an account's days are closed.
import {
  opaqueAccountId,
  type Db,
  type Tx,
  type Reader,
} from '../../platform/postgres/database.service.js';
import type { DayClose, DayCloseState, StatementLine } from '../../generated/service/client.js';
import { statementDayOf } from '../../brazil/statement-day.js';
import { findLastArrival } from '../../statement/lines/closing.queries.js';
import { summaryFields } from './certificate.js';

/**
 * Accounts whose next day may be certified, whose certificates must be amended, or that have new
 * lines.
 */
export async function listAccountsWithDaysToClose(db: Reader): Promise<{ accountId: number }[]> {
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

/** Locks the account's chain until the transaction ends, and reads its next days. */
export async function lockClosingState(tx: Tx, accountId: number): Promise<ClosingState | null> {
  const [state] = await tx.$queryRaw<ClosingState[]>`
    SELECT next_date, amend_from, seen_arrival
    FROM day_close_state WHERE account_id = ${accountId} FOR NO KEY UPDATE`;
  return state ?? null;
}

export const lateLineFields = { nsu: true, amountCents: true, occurredAt: true } as const;
export type LateLine = Pick<StatementLine, keyof typeof lateLineFields>;

/** An open day ends at `before`; lines before it that no certificate contains are late. */
interface LateLineSearch {
  seenArrival: bigint;
  before: Date;
}

/**
 * The lines above the arrival number `seenArrival` that lie before the next day to certify: no
 * certificate contains them. Also returns the arrival number up to which they were read, and the
 * lowest nsu of all lines that came since, whatever their time.
 */
export async function listLateLines(
  tx: Tx,
  accountId: number,
  { seenArrival, before }: LateLineSearch,
): Promise<{ lines: LateLine[]; lowestNsu: bigint | null; seenArrival: bigint }> {
  const until = await findLastArrival(tx, accountId);
  const where = { accountId, arrival: { gt: seenArrival, lte: until } };
  const lines = await tx.statementLine.findMany({
    where: { ...where, occurredAt: { lt: before } },
    select: lateLineFields,
    orderBy: [{ occurredAt: 'asc' }, { nsu: 'asc' }],
  });
  const lowest = await tx.statementLine.aggregate({ where, _min: { nsu: true } });
  return { lines, lowestNsu: lowest._min.nsu, seenArrival: until };
}

/** Whether a line came since that lies before `until` by time, or up to `untilNsu` by nsu. */
export async function hasNewLines(
  db: Db,
  accountId: number,
  { lastArrival, until, untilNsu }: { lastArrival: bigint; until: Date; untilNsu: bigint | null },
): Promise<boolean> {
  const [found] = await db.$queryRaw<{ isFound: boolean }[]>`
    SELECT EXISTS (
      SELECT FROM statement_line
      WHERE account_id = ${opaqueAccountId(accountId)} AND arrival > ${lastArrival}
        AND (occurred_at < ${until} OR nsu <= ${untilNsu}::bigint)
    ) AS "isFound"`;
  return found?.isFound === true;
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

/** The break of the day's balance. */
export async function findDayBreak(db: Db, accountId: number, subject: string) {
  const key = { accountId, kind: 'broken_balance_chain', subject };
  return db.break.findUnique({ where: { accountId_kind_subject: key } });
}

/** The last certificate of the account's chain. */
export async function findLastCertificate(db: Db, accountId: number): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId }, orderBy: { sequence: 'desc' } });
}

/** The first certificate of the account's chain. */
export async function findFirstCertificate(db: Db, accountId: number): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId }, orderBy: { sequence: 'asc' } });
}

/** A certificate with the text of its summary, for `readCertificateSummary`. */
export type ListedCertificate = Omit<DayClose, 'certificate'> & { summary: string };

/**
 * The current certificate of each day, newest day first. A text may have hundreds of kilobytes, of
 * which a list shows few. `json`, unlike `jsonb`, keeps the order of their keys.
 */
export async function listCurrentCertificates(
  db: Db,
  accountId: number,
  filters: { from: string | null; to: string | null; beforeDate: string | null; limit: number },
): Promise<ListedCertificate[]> {
  const { from, to, beforeDate, limit } = filters;
  return db.$queryRaw<ListedCertificate[]>`
    SELECT listed.account_id, listed.sequence, listed.date, listed.revision, listed.opening_cents,
           listed.credit_cents, listed.debit_cents, listed.closing_cents, listed.line_count,
           listed.lines_root, listed.last_arrival, listed.outcome_sequence, listed.previous_hash,
           listed.hash, listed.signature, listed.created_at, (
             SELECT json_object_agg(field.key, field.value) FROM json_each(certificate::json) field
             WHERE field.key = ANY (${summaryFields}::text[])
           )::text AS summary
    FROM (
      SELECT DISTINCT ON (date) * FROM day_close
      WHERE account_id = ${accountId}
        AND (${from}::text IS NULL OR date >= ${from}::text)
        AND (${to}::text IS NULL OR date <= ${to}::text)
        AND (${beforeDate}::text IS NULL OR date < ${beforeDate}::text)
      ORDER BY date DESC, revision DESC LIMIT ${limit}
    ) listed
    ORDER BY listed.date DESC`;
}

/** Whether a certificate contains the line; the first one contains the lines before its day. */
export async function isCertified(
  db: Db,
  accountId: number,
  { occurredAt, arrival }: Pick<StatementLine, 'occurredAt' | 'arrival'>,
): Promise<boolean> {
  const first = await findFirstCertificate(db, accountId);
  if (!first) return false;
  const date = statementDayOf(occurredAt);
  const day = date < first.date ? first.date : date;
  const certificate = await findCurrentCertificate(db, accountId, day);
  return certificate !== null && arrival <= certificate.lastArrival;
}

/** The lines of each day of the period that nothing explains at present. */
export async function listUnexplained(
  db: Db,
  accountId: number,
  { from, to }: { from: string; to: string },
): Promise<{ day: string; lines: bigint }[]> {
  return db.$queryRaw`
    SELECT day, sum(line_count)::bigint AS lines FROM day_total
    WHERE account_id = ${accountId} AND day >= ${from} AND day <= ${to}
      AND state IN ('in_break', 'pending')
    GROUP BY day HAVING sum(line_count) > 0 ORDER BY day`;
}
