// The SQL of day closes: which days wait, what a day's lines are and how they stand, and the chain of certificates.
import type { Db, Tx } from '../database.service.js';
import { Prisma, type DayClose } from '../generated/service/client.js';
import { explanationOf, explainsItsLine } from '../reconciliation/book.queries.js';
import type { Jump } from '../statement/balance-chain.js';
import type { FollowingLine } from './cut.js';
import type { HashedFields } from './line-hash.js';
import { idsOfLine } from './certified-lines.queries.js';

/** Accounts whose next day may be certified, whose certificates are to be amended, or that had new lines. */
export async function listReady(db: Db): Promise<{ accountId: number }[]> {
  return db.$queryRaw`
    SELECT s.account_id AS "accountId"
    FROM statement_state s LEFT JOIN day_close_state d ON d.account_id = s.account_id
    CROSS JOIN LATERAL (SELECT (d.next_date || 'T03:00:00Z')::timestamptz AS start) day
    WHERE CASE WHEN d.account_id IS NULL THEN s.is_anchored ELSE
      d.amend_from IS NOT NULL OR (
        day.start + interval '1 day' <= clock_timestamp() + s.clock_offset_ms * interval '1 millisecond'
        AND s.closed_from <= day.start AND s.closed_until >= day.start + interval '1 day'
      ) OR (SELECT max(t.arrival) FROM statement_line t WHERE t.account_id = s.account_id) > d.seen_arrival
    END`;
}

export interface ClosingState {
  nextDate: string;
  amendFrom: string | null;
  seenArrival: bigint;
}

export async function findState(db: Db, accountId: number): Promise<ClosingState | null> {
  return db.dayCloseState.findUnique({ where: { accountId } });
}

/** When the mirrored history begins; null until it has been read to its beginning once, or while it is empty. */
export async function findFirstLineAt(db: Db, accountId: number): Promise<Date | null> {
  const [first] = await db.$queryRaw<{ occurredAt: Date }[]>`
    SELECT t.occurred_at AS "occurredAt" FROM statement_state s
    JOIN statement_line t ON t.account_id = s.account_id
    WHERE s.account_id = ${accountId} AND s.is_anchored
    ORDER BY t.occurred_at LIMIT 1`;
  return first?.occurredAt ?? null;
}

/** From this day on certificates are made. */
export async function beginClosing(db: Db, accountId: number, firstDate: string): Promise<void> {
  await db.$executeRaw`
    INSERT INTO day_close_state (account_id, next_date, seen_arrival)
    SELECT ${accountId}, ${firstDate}, COALESCE(max(arrival), 0)
    FROM statement_line WHERE account_id = ${accountId}
    ON CONFLICT (account_id) DO NOTHING`;
}

/** How far the lines' arrivals were looked at, and from which day on the certificates are to be amended. */
export async function recordSeen(
  tx: Tx,
  accountId: number,
  { seenArrival, amendFrom }: Pick<ClosingState, 'seenArrival' | 'amendFrom'>,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE day_close_state
    SET seen_arrival = ${seenArrival}, amend_from = ${amendFrom}, updated_at = now()
    WHERE account_id = ${accountId}`;
}

/** The day has its certificate, or its amendment. */
export async function recordPassed(
  tx: Tx,
  accountId: number,
  { nextDate, amendFrom }: Pick<ClosingState, 'nextDate' | 'amendFrom'>,
): Promise<void> {
  await tx.$executeRaw`
    UPDATE day_close_state SET next_date = ${nextDate}, amend_from = ${amendFrom}, updated_at = now()
    WHERE account_id = ${accountId}`;
}

/** How far the statement is closed; holds the mirror as it is for the rest of the transaction. */
export async function lockStatement(
  tx: Tx,
  accountId: number,
): Promise<{ closedFrom: Date | null; closedUntil: Date | null }> {
  const [state] = await tx.$queryRaw<{ closedFrom: Date | null; closedUntil: Date | null }[]>`
    SELECT closed_from AS "closedFrom", closed_until AS "closedUntil"
    FROM statement_state WHERE account_id = ${accountId} FOR SHARE`;
  return state ?? { closedFrom: null, closedUntil: null };
}

/** Takes the account's chain for the rest of the transaction; the day that is to be closed next. */
export async function holdChain(tx: Tx, accountId: number): Promise<ClosingState | null> {
  const [state] = await tx.$queryRaw<ClosingState[]>`
    SELECT next_date AS "nextDate", amend_from AS "amendFrom", seen_arrival AS "seenArrival"
    FROM day_close_state WHERE account_id = ${accountId} FOR UPDATE`;
  return state ?? null;
}

export interface LateLine {
  nsu: bigint;
  amountCents: bigint;
  occurredAt: Date;
}

/** How far the lines have arrived. */
export async function readArrival(db: Db, accountId: number): Promise<bigint> {
  const [last] = await db.$queryRaw<{ arrival: bigint | null }[]>`
    SELECT max(arrival) AS arrival FROM statement_line WHERE account_id = ${accountId}`;
  return last?.arrival ?? 0n;
}

/**
 * Lines of days that are certified, or that lie before them, which no certificate has; how far it was looked, and the
 * lowest number of all lines that came since, whatever their time.
 */
export async function listLate(
  tx: Tx,
  accountId: number,
  { seenArrival, before }: { seenArrival: bigint; before: Date },
): Promise<{ lines: LateLine[]; lowestNsu: bigint | null; seenArrival: bigint }> {
  const until = await readArrival(tx, accountId);
  const lines = await tx.$queryRaw<LateLine[]>`
    SELECT t.nsu, t.amount_cents AS "amountCents", t.occurred_at AS "occurredAt" FROM statement_line t
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
  /** Null for a line that no certificate has. */
  lineHash: string | null;
  state: 'matched' | 'classified' | 'in_break' | 'pending';
  as: string | null;
}

const stateOfLine = explanationOf({
  isInBreak: Prisma.sql`held.kind IS NOT NULL`,
  isMatched: Prisma.sql`m.is_matched`,
  isClassified: Prisma.sql`c.category IS NOT NULL`,
});

/** The lines of a day, by nsu, each as it stands in the book. */
export async function listDay(
  tx: Tx,
  accountId: number,
  { from, until }: { from: Date; until: Date },
): Promise<DayLine[]> {
  return tx.$queryRaw<DayLine[]>`
    SELECT t.nsu, t.bank_id AS "bankId", t.is_credit AS "isCredit", t.amount_cents AS "amountCents",
           t.type_name AS "typeName", ${idsOfLine},
           t.balance_previous_cents AS "balancePreviousCents", t.current_balance_cents AS "currentBalanceCents",
           t.occurred_at AS "occurredAt", t.content_hash AS "contentHash", seal.line_hash AS "lineHash",
           CASE WHEN t.arrival > COALESCE(judged.decided_arrival, 0) OR waits.nsu IS NOT NULL THEN 'pending'
                ELSE ${stateOfLine} END AS state,
           CASE WHEN held.kind IS NOT NULL THEN held.kind WHEN m.is_matched THEN NULL
                ELSE c.category END AS "as"
    FROM statement_line t
    LEFT JOIN reconciliation_state judged ON judged.account_id = t.account_id
    LEFT JOIN deferred_line waits ON waits.account_id = t.account_id AND waits.nsu = t.nsu
    LEFT JOIN certified_line seal ON seal.account_id = t.account_id AND seal.nsu = t.nsu
    LEFT JOIN classification c ON c.account_id = t.account_id AND c.nsu = t.nsu
    LEFT JOIN LATERAL (
      SELECT true AS is_matched FROM match
      WHERE account_id = t.account_id AND nsu = t.nsu AND unlinked_at IS NULL LIMIT 1
    ) m ON true
    LEFT JOIN LATERAL (
      SELECT min(kind) AS kind FROM break WHERE account_id = t.account_id AND nsu = t.nsu
        AND ${explainsItsLine}
    ) held ON true
    WHERE t.account_id = ${accountId} AND t.occurred_at >= ${from} AND t.occurred_at < ${until}
    ORDER BY t.nsu`;
}

/** So many lines that follow one by nsu. */
export async function listFollowing(
  db: Db,
  accountId: number,
  afterNsu: bigint | null,
  count: number,
): Promise<FollowingLine[]> {
  if (count === 0) return [];
  return db.$queryRaw`
    SELECT nsu, occurred_at AS "occurredAt", balance_previous_cents AS "balancePreviousCents",
           current_balance_cents AS "currentBalanceCents",
           CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS "signedCents"
    FROM statement_line
    WHERE account_id = ${accountId} AND (${afterNsu}::bigint IS NULL OR nsu > ${afterNsu}::bigint)
    ORDER BY nsu LIMIT ${count}`;
}

/** A day's certificate as it stands; null where it has none. */
export async function findStanding(
  db: Db,
  accountId: number,
  date: string,
): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId, date }, orderBy: { revision: 'desc' } });
}

/** The end of the account's chain. */
export async function findLast(db: Db, accountId: number): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId }, orderBy: { sequence: 'desc' } });
}

/**
 * The first day with a certificate whose balance counts one of the lines' numbers, or any beyond it; null for none. Most
 * lines come with numbers beyond all: the last day, or the one that was amended last, counts furthest and says so.
 */
export async function findFirstCounting(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<string | null> {
  const [found] = await tx.$queryRaw<{ date: string | null }[]>`
    SELECT min(date) AS date FROM day_close
    WHERE account_id = ${accountId} AND (certificate::jsonb->>'balanceNsu')::bigint >= ${nsu}
      AND (SELECT max((certificate::jsonb->>'balanceNsu')::bigint) FROM (
        (SELECT certificate FROM day_close WHERE account_id = ${accountId} ORDER BY sequence DESC LIMIT 1)
        UNION ALL
        (SELECT certificate FROM day_close WHERE account_id = ${accountId} ORDER BY date DESC, revision DESC LIMIT 1)
      ) furthest) >= ${nsu}`;
  return found?.date ?? null;
}

export interface AcceptedJump extends Jump {
  breakId: string;
  subject: string;
  reason: string | null;
}

/** What persons have accepted of the chain, jump by jump: of holes of the statement, and of days, the first first. */
export async function listAcceptedJumps(db: Db, accountId: number): Promise<AcceptedJump[]> {
  return db.$queryRaw<AcceptedJump[]>`
    SELECT b.id AS "breakId", b.subject, b.resolution_reason AS reason,
           (jump->>'nsu')::bigint AS nsu, (jump->>'cents')::bigint AS cents
    FROM break b CROSS JOIN LATERAL jsonb_array_elements(b.evidence->'jumps') jump
    WHERE b.account_id = ${accountId} AND b.kind = 'broken_balance_chain' AND b.state = 'resolved' AND b.resolution <> 'automatic'
    ORDER BY b.resolved_at, b.id`;
}

/** Whether a person has settled the break of a day's difference. */
export async function isDaySettled(db: Db, accountId: number, subject: string): Promise<boolean> {
  const where = { accountId, kind: 'broken_balance_chain', subject, state: 'resolved' };
  return (await db.break.count({ where: { ...where, resolution: { not: 'automatic' } } })) > 0;
}

export async function findFirst(db: Db, accountId: number): Promise<DayClose | null> {
  return db.dayClose.findFirst({ where: { accountId }, orderBy: { sequence: 'asc' } });
}

/** The certificates of an account's days as they stand, newest day first. */
export async function listStanding(
  db: Db,
  accountId: number,
  filters: { from: string | null; to: string | null; beforeDate: string | null; limit: number },
): Promise<DayClose[]> {
  const { from, to, beforeDate, limit } = filters;
  return db.$queryRaw<DayClose[]>`
    SELECT DISTINCT ON (date) account_id AS "accountId", sequence, date, revision, opening_cents AS "openingCents",
           credit_cents AS "creditCents", debit_cents AS "debitCents", closing_cents AS "closingCents",
           line_count AS "lineCount", certificate, lines_hash AS "linesHash", previous_hash AS "previousHash",
           hash, created_at AS "createdAt"
    FROM day_close
    WHERE account_id = ${accountId}
      AND (${from}::text IS NULL OR date >= ${from}::text) AND (${to}::text IS NULL OR date <= ${to}::text)
      AND (${beforeDate}::text IS NULL OR date < ${beforeDate}::text)
    ORDER BY date DESC, revision DESC LIMIT ${limit}`;
}
