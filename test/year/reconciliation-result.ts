// Reads the result of the year from the service's database.
import type pg from 'pg';

export interface ReconciledLine {
  nsu: number;
  cents: number;
  isCredit: boolean;
  /** Its active matches. */
  matches: { role: string; paymentId: string; cents: number }[];
  category: string | null;
  /** The kinds of the open breaks that explain it. */
  breaks: string[];
  isPending: boolean;
}

export interface ReconciledPayment {
  id: string;
  paidCents: number;
  /** The kinds of the open breaks of the expected payment. */
  breaks: string[];
}

/** Breaks that are opened in addition to the explanation of a line. */
const additionalBreaks = ['late_line', 'failed_but_debited'];

export async function readReconciledLines(
  pool: pg.Pool,
  accountId: number,
): Promise<ReconciledLine[]> {
  const { rows } = await pool.query<ReconciledLine>(
    `SELECT line.nsu::int, line.amount_cents::float8 AS cents, line.is_credit AS "isCredit",
       COALESCE(matched.all, '[]') AS matches, classification.category,
       COALESCE(broken.kinds, '[]') AS breaks, outcome.state = 'pending' AS "isPending"
     FROM statement_line line
     LEFT JOIN (
       SELECT nsu, jsonb_agg(jsonb_build_object('role', role, 'paymentId', expected_payment_id,
                'cents', amount_cents)) AS "all"
       FROM match WHERE account_id = $1 AND unlinked_at IS NULL GROUP BY nsu
     ) matched ON matched.nsu = line.nsu
     LEFT JOIN classification
       ON classification.account_id = line.account_id AND classification.nsu = line.nsu
     LEFT JOIN (
       SELECT nsu, jsonb_agg(kind ORDER BY kind) AS kinds FROM break
       WHERE account_id = $1 AND state = 'open' AND kind <> ALL ($2) GROUP BY nsu
     ) broken ON broken.nsu = line.nsu
     JOIN line_outcome outcome
       ON outcome.account_id = line.account_id AND outcome.nsu = line.nsu
     WHERE line.account_id = $1 ORDER BY line.nsu`,
    [accountId, additionalBreaks],
  );
  return rows;
}

export async function readReconciledPayments(
  pool: pg.Pool,
  accountId: number,
): Promise<Map<string, ReconciledPayment>> {
  const { rows } = await pool.query<ReconciledPayment>(
    `SELECT payment.id, COALESCE(matched.cents, 0)::float8 AS "paidCents",
       COALESCE(broken.kinds, '[]') AS breaks
     FROM expected_payment payment
     LEFT JOIN (
       SELECT expected_payment_id AS id, sum(amount_cents) AS cents FROM match
       WHERE account_id = $1 AND unlinked_at IS NULL AND role = 'payment' GROUP BY 1
     ) matched ON matched.id = payment.id
     LEFT JOIN (
       SELECT expected_payment_id AS id, jsonb_agg(kind ORDER BY kind) AS kinds FROM break
       WHERE account_id = $1 AND state = 'open' AND kind <> ALL ($2) GROUP BY 1
     ) broken ON broken.id = payment.id
     WHERE payment.account_id = $1`,
    [accountId, additionalBreaks],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

export interface StatementTotals {
  lines: number;
  creditCents: number;
  debitCents: number;
  balanceCents: number | null;
  /** Whether the balance chain has no gap. */
  isWithoutGaps: boolean;
  pendingLines: number;
}

export async function readStatementTotals(
  pool: pg.Pool,
  accountId: number,
): Promise<StatementTotals> {
  const { rows } = await pool.query<StatementTotals>(
    `SELECT totals.*, state.balance_cents::float8 AS "balanceCents",
       state.first_gap_nsu IS NULL AS "isWithoutGaps",
       (SELECT count(*)::int FROM line_outcome
        WHERE account_id = $1 AND state = 'pending') AS "pendingLines"
     FROM statement_state state CROSS JOIN (
       SELECT count(*)::int AS lines,
         COALESCE(sum(amount_cents) FILTER (WHERE is_credit), 0)::float8 AS "creditCents",
         COALESCE(sum(amount_cents) FILTER (WHERE NOT is_credit), 0)::float8 AS "debitCents"
       FROM statement_line WHERE account_id = $1
     ) totals WHERE state.account_id = $1`,
    [accountId],
  );
  const [totals] = rows;
  if (!totals) throw new Error('the account has no statement state');
  return totals;
}

/** Must be the same for every order of arrival: active matches, classifications, open breaks. */
const resultQueries = [
  `SELECT concat_ws(' ', 'match', nsu, expected_payment_id, amount_cents, role, rule, owed_cents)
     AS row
   FROM match WHERE account_id = $1 AND unlinked_at IS NULL`,
  `SELECT concat_ws(' ', 'classification', nsu, rule, category)
   FROM classification WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'break', kind, subject, amount_cents, nsu, expected_payment_id)
   FROM break WHERE account_id = $1 AND state = 'open'`,
  `SELECT concat_ws(' ', 'line', nsu, state) FROM line_outcome WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'total', expected_payment_id, settlement, paid_cents, reversed_cents,
     refunded_cents, unrefunded_cents)
   FROM expected_payment_total WHERE account_id = $1`,
];

/** Must not change when nothing is new: also unlinked matches, resolved breaks and events. */
const historyQueries = [
  `SELECT concat_ws(' ', 'match', id, unlinked_at) AS row FROM match WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'break', id, state, opened_at, resolved_at, evidence)
   FROM break WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'entry', count(*)) FROM break_history_entry WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'event', count(*)) FROM event WHERE account_id = $1`,
  `SELECT concat_ws(' ', state, nsu) FROM line_outcome WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'line', count(*), max(arrival)) FROM statement_line WHERE account_id = $1`,
  `SELECT concat_ws(' ', 'day', sequence, hash) FROM day_close WHERE account_id = $1`,
];

/** One text for each row of the result, sorted. */
export async function readResultRows(pool: pg.Pool, accountId: number): Promise<string[]> {
  return readSortedRows(pool, accountId, resultQueries);
}

/** The rows of the result and of the history, sorted. */
export async function readHistoryRows(pool: pg.Pool, accountId: number): Promise<string[]> {
  return readSortedRows(pool, accountId, [...resultQueries, ...historyQueries]);
}

async function readSortedRows(
  pool: pg.Pool,
  accountId: number,
  queries: string[],
): Promise<string[]> {
  const { rows } = await pool.query<{ row: string }>(queries.join('\nUNION ALL\n'), [accountId]);
  return rows.map(({ row }) => row).sort();
}

/** Rows that only one of both lists has, at most `limit`. */
export function listRowDifferences(first: string[], second: string[], limit = 10): string[] {
  const [firstRows, secondRows] = [new Set(first), new Set(second)];
  return [
    ...first.filter((row) => !secondRows.has(row)).map((row) => `only in the first: ${row}`),
    ...second.filter((row) => !firstRows.has(row)).map((row) => `only in the second: ${row}`),
  ].slice(0, limit);
}
