// What the service's book says at the end of the year, read as it stands in the database.
import { createHash } from 'node:crypto';
import type pg from 'pg';

export interface EventLine {
  nsu: number;
  cents: number;
  isCredit: boolean;
  /** Roles of its live matches, with what they were matched to. */
  matches: { role: string; expectation: string; cents: number }[];
  category: string | null;
  /** Open breaks that explain it. */
  breaks: string[];
  isWaiting: boolean;
}

export interface ReportedExpectation {
  id: string;
  paidCents: number;
  breaks: string[];
}

/** Breaks that tell of more than the line: they do not say what it is. */
const besides = ['late_line', 'failed_but_debited'];

export async function readLines(pool: pg.Pool, accountId: number): Promise<EventLine[]> {
  const { rows } = await pool.query<EventLine>(
    `SELECT t.nsu::int, t.amount_cents::float8 AS cents, t.is_credit AS "isCredit",
       COALESCE(m.all, '[]') AS matches, c.category, COALESCE(b.kinds, '[]') AS breaks,
       d.nsu IS NOT NULL AS "isWaiting"
     FROM statement_line t
     LEFT JOIN (
       SELECT nsu, jsonb_agg(jsonb_build_object('role', role, 'expectation', expected_payment_id,
                'cents', amount_cents)) AS "all"
       FROM match WHERE account_id = $1 AND unlinked_at IS NULL GROUP BY nsu
     ) m ON m.nsu = t.nsu
     LEFT JOIN classification c ON c.account_id = t.account_id AND c.nsu = t.nsu
     LEFT JOIN (
       SELECT nsu, jsonb_agg(kind ORDER BY kind) AS kinds FROM break
       WHERE account_id = $1 AND state = 'open' AND kind <> ALL ($2) GROUP BY nsu
     ) b ON b.nsu = t.nsu
     LEFT JOIN deferred_line d ON d.account_id = t.account_id AND d.nsu = t.nsu
     WHERE t.account_id = $1 ORDER BY t.nsu`,
    [accountId, besides],
  );
  return rows;
}

export async function readExpectations(
  pool: pg.Pool,
  accountId: number,
): Promise<Map<string, ReportedExpectation>> {
  const { rows } = await pool.query<ReportedExpectation>(
    `SELECT e.id, COALESCE(m.cents, 0)::float8 AS "paidCents", COALESCE(b.kinds, '[]') AS breaks
     FROM expected_payment e
     LEFT JOIN (
       SELECT expected_payment_id AS id, sum(amount_cents) AS cents FROM match
       WHERE account_id = $1 AND unlinked_at IS NULL AND role = 'payment' GROUP BY 1
     ) m ON m.id = e.id
     LEFT JOIN (
       SELECT expected_payment_id AS id, jsonb_agg(kind ORDER BY kind) AS kinds FROM break
       WHERE account_id = $1 AND state = 'open' AND kind <> ALL ($2) GROUP BY 1
     ) b ON b.id = e.id
     WHERE e.account_id = $1`,
    [accountId, besides],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export interface Standing {
  lines: number;
  creditCents: number;
  debitCents: number;
  balanceCents: number | null;
  isWhole: boolean;
  waiting: number;
}

export async function readStanding(pool: pg.Pool, accountId: number): Promise<Standing> {
  const { rows } = await pool.query<Standing>(
    `SELECT t.*, s.balance_cents::float8 AS "balanceCents", s.first_gap_nsu IS NULL AS "isWhole",
       (SELECT count(*)::int FROM deferred_line WHERE account_id = $1) AS waiting
     FROM statement_state s CROSS JOIN (
       SELECT count(*)::int AS lines, COALESCE(sum(amount_cents) FILTER (WHERE is_credit), 0)::float8 AS "creditCents",
              COALESCE(sum(amount_cents) FILTER (WHERE NOT is_credit), 0)::float8 AS "debitCents"
       FROM statement_line WHERE account_id = $1
     ) t WHERE s.account_id = $1`,
    [accountId],
  );
  const [standing] = rows;
  if (!standing) throw new Error('nothing was mirrored');
  return standing;
}

/** What must be the same whatever the order of arrival: live matches, classifications, open breaks. */
const bookRows = [
  `SELECT concat_ws(' ', 'match', nsu, expected_payment_id, amount_cents, role, rule, owed_cents) AS row
   FROM match WHERE account_id = $1 AND unlinked_at IS NULL`,
  `SELECT concat_ws(' ', 'classification', nsu, rule, category) FROM classification WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'break', kind, subject, amount_cents, nsu, expected_payment_id) FROM break
   WHERE account_id = $1 AND state = 'open'`,
];

/** What a second time must not touch: also what ended, and what was told. */
const historyRows = [
  `SELECT concat_ws(' ', 'match', id, unlinked_at) AS row FROM match WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'break', id, state, opened_at, resolved_at, evidence) FROM break WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'entry', count(*)) FROM break_history_entry WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'event', count(*)) FROM event WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'deferred', nsu) FROM deferred_line WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'line', count(*), max(arrival)) FROM statement_line WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'day', sequence, hash) FROM day_close WHERE account_id = $1`,
];

export async function bookOf(pool: pg.Pool, accountId: number): Promise<string[]> {
  return rowsOf(pool, accountId, bookRows);
}

export async function historyOf(pool: pg.Pool, accountId: number): Promise<string[]> {
  return rowsOf(pool, accountId, [...bookRows, ...historyRows]);
}

async function rowsOf(pool: pg.Pool, accountId: number, parts: string[]): Promise<string[]> {
  const { rows } = await pool.query<{ row: string }>(parts.join('\nUNION ALL\n'), [accountId]);
  return rows.map(({ row }) => row).sort();
}

export function digestOf(rows: string[]): string {
  return createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16);
}

/** Rows that only one of both has, at most so many. */
export function differences(one: string[], other: string[], most = 10): string[] {
  const [ofOne, ofOther] = [new Set(one), new Set(other)];
  return [
    ...one.filter((row) => !ofOther.has(row)).map((row) => `only first: ${row}`),
    ...other.filter((row) => !ofOne.has(row)).map((row) => `only second: ${row}`),
  ].slice(0, most);
}
