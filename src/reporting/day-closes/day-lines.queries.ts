// Reads the lines of a span of time with their outcomes, as they were at a point of the account's
// history: the same point gives the same lines, whatever is stored since. The lines are aggregated
// in PostgreSQL, so that memory does not grow with their number.
import type { Db } from '../../platform/postgres/database.service.js';
import { lineCents } from '../../statement/lines/balance-chain.queries.js';
import type { CutLine } from './cut.js';

/** Lines up to an arrival number, and the outcomes of a sequence. */
export interface Point {
  lastArrival: bigint;
  outcomeSequence: bigint;
}

/** The lines of an account in a span of time; `from` is null for all lines before `until`. */
export interface LineSpan extends Point {
  accountId: number;
  from: Date | null;
  until: Date;
}

/** The lines of one state, label and direction. */
export interface OutcomeTotal {
  state: 'matched' | 'classified' | 'in_break' | 'pending';
  label: string | null;
  isCredit: boolean;
  lines: number;
  cents: bigint;
}

export interface LeafPage {
  /** The leaf hashes of the page's lines in nsu order, 32 bytes each. */
  leaves: Uint8Array;
  lines: number;
  lastNsu: bigint | null;
  /** Lines without an outcome: they have no leaf. */
  undecided: number;
  totals: OutcomeTotal[];
}

interface LeafPageRow extends Omit<LeafPage, 'leaves' | 'totals'> {
  leaves: Uint8Array | null;
  totals: (Omit<OutcomeTotal, 'cents'> & { cents: string })[] | null;
}

/** The next `limit` lines of the span in nsu order, above `afterNsu` and up to `untilNsu`. */
export async function readLeafPage(
  db: Db,
  { accountId, from, until, lastArrival, outcomeSequence }: LineSpan,
  { afterNsu, untilNsu, limit }: { afterNsu: bigint; untilNsu: bigint; limit: number },
): Promise<LeafPage> {
  const [row] = await db.$queryRaw<LeafPageRow[]>`
    WITH page AS (
      SELECT t.nsu, t.is_credit, t.amount_cents, o.state, o.label, o.leaf_hash
      FROM (
        -- By nsu, whatever the planner expects of the times.
        SELECT nsu, is_credit, amount_cents, occurred_at, arrival FROM statement_line
        WHERE account_id = ${accountId} AND nsu > ${afterNsu} AND nsu <= ${untilNsu}
        ORDER BY nsu OFFSET 0
      ) t
      LEFT JOIN LATERAL (
        SELECT state, label, leaf_hash FROM line_outcome
        WHERE account_id = ${accountId} AND nsu = t.nsu AND sequence <= ${outcomeSequence}
        UNION ALL
        SELECT state, label, leaf_hash FROM former_outcome
        WHERE account_id = ${accountId} AND nsu = t.nsu AND sequence <= ${outcomeSequence}
          AND until_sequence > ${outcomeSequence}
      ) o ON true
      WHERE t.arrival <= ${lastArrival} AND t.occurred_at < ${until}
        AND (${from}::timestamptz IS NULL OR t.occurred_at >= ${from}::timestamptz)
      ORDER BY t.nsu LIMIT ${limit}
    )
    SELECT string_agg(leaf_hash, ''::bytea ORDER BY nsu) AS leaves, count(*)::int AS lines,
           max(nsu) AS "lastNsu",
           (count(*) FILTER (WHERE leaf_hash IS NULL))::int AS undecided,
           (SELECT jsonb_agg(jsonb_build_object('state', state, 'label', label,
              'isCredit', is_credit, 'lines', lines, 'cents', cents::text))
            FROM (
              SELECT state, label, is_credit, count(*) AS lines, sum(amount_cents) AS cents
              FROM page WHERE state IS NOT NULL GROUP BY state, label, is_credit
            ) grouped) AS totals
    FROM page`;
  const { leaves, totals, ...page } = row!;
  return {
    ...page,
    leaves: leaves ?? new Uint8Array(),
    totals: (totals ?? []).map((total) => ({ ...total, cents: BigInt(total.cents) })),
  };
}

export interface SpanFigures {
  lines: number;
  creditCents: bigint;
  debitCents: bigint;
  firstNsu: bigint | null;
  lastNsu: bigint | null;
}

export async function readSpanFigures(
  db: Db,
  { accountId, from, until, lastArrival }: Omit<LineSpan, 'outcomeSequence'>,
): Promise<SpanFigures> {
  const [figures] = await db.$queryRaw<SpanFigures[]>`
    SELECT count(*)::int AS lines, min(nsu) AS "firstNsu", max(nsu) AS "lastNsu",
           COALESCE(sum(amount_cents) FILTER (WHERE is_credit), 0)::bigint AS "creditCents",
           COALESCE(sum(amount_cents) FILTER (WHERE NOT is_credit), 0)::bigint AS "debitCents"
    FROM statement_line
    WHERE account_id = ${accountId} AND occurred_at < ${until} AND arrival <= ${lastArrival}
      AND (${from}::timestamptz IS NULL OR occurred_at >= ${from}::timestamptz)`;
  return figures!;
}

interface Following {
  lines: number;
  cents: bigint;
  firstNsu: bigint | null;
  lastNsu: bigint | null;
}

/** A statement reads at most as many lines, so that its time has a bound. */
const linesPerStatement = 500_000;

/**
 * The lines above `afterNsu` by nsu (null: from the first line on), and their sum: the first
 * `count`, or all up to `untilNsu`.
 */
export async function readFollowing(
  db: Db,
  accountId: number,
  range: { afterNsu: bigint | null; lastArrival: bigint } & (
    { count: number; untilNsu?: never } | { untilNsu: bigint; count?: never }
  ),
): Promise<Following> {
  const { afterNsu, lastArrival, count = Infinity, untilNsu = null } = range;
  const all: Following = { lines: 0, cents: 0n, firstNsu: null, lastNsu: null };
  while (all.lines < count) {
    const after = all.lastNsu ?? afterNsu;
    const limit = Math.min(count - all.lines, linesPerStatement);
    const [next] = await db.$queryRaw<Following[]>`
      SELECT count(*)::int AS lines, COALESCE(sum(cents), 0)::bigint AS cents,
             min(nsu) AS "firstNsu", max(nsu) AS "lastNsu"
      FROM (
        SELECT nsu, ${lineCents} AS cents FROM statement_line
        WHERE account_id = ${accountId} AND arrival <= ${lastArrival}
          AND (${after}::bigint IS NULL OR nsu > ${after}::bigint)
          AND (${untilNsu}::bigint IS NULL OR nsu <= ${untilNsu}::bigint)
        ORDER BY nsu LIMIT ${limit}
      ) following`;
    if (!next || next.lines === 0) break;
    all.lines += next.lines;
    all.cents += next.cents;
    all.firstNsu ??= next.firstNsu;
    all.lastNsu = next.lastNsu;
  }
  return all;
}

/**
 * Lines on different sides by nsu and by time: counted by nsu, above `afterNsu` (null: from the
 * first line on) and up to `cutNsu`, but not before `end`; or from `start` (null: from the first
 * line on) until `end`, but above `cutNsu`.
 */
export async function listStraddlingLines(
  db: Db,
  accountId: number,
  span: {
    afterNsu: bigint | null;
    cutNsu: bigint;
    start: Date | null;
    end: Date;
    lastArrival: bigint;
  },
): Promise<CutLine[]> {
  const { afterNsu, cutNsu, start, end, lastArrival } = span;
  return db.$queryRaw<CutLine[]>`
    SELECT nsu, occurred_at, ${lineCents} AS "signedCents" FROM statement_line
    WHERE account_id = ${accountId} AND arrival <= ${lastArrival} AND nsu <= ${cutNsu}
      AND (${afterNsu}::bigint IS NULL OR nsu > ${afterNsu}::bigint) AND occurred_at >= ${end}
    UNION ALL
    SELECT nsu, occurred_at, ${lineCents} FROM statement_line
    WHERE account_id = ${accountId} AND arrival <= ${lastArrival} AND nsu > ${cutNsu}
      AND (${start}::timestamptz IS NULL OR occurred_at >= ${start}::timestamptz)
      AND occurred_at < ${end}`;
}

/** These lines, those that exist. */
export async function listCutLines(db: Db, accountId: number, nsus: bigint[]): Promise<CutLine[]> {
  if (nsus.length === 0) return [];
  return db.$queryRaw`
    SELECT nsu, occurred_at, ${lineCents} AS "signedCents"
    FROM statement_line WHERE account_id = ${accountId} AND nsu = ANY (${nsus}::bigint[])`;
}
