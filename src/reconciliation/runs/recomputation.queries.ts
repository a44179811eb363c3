// Reads what is stored about every line and break of an account, to compare it with a
// recomputation.
import type { Db } from '../../platform/postgres/database.service.js';

export interface StoredOutcome {
  nsu: bigint;
  state: string | null;
  /** Its matches, its classification or its break, each as text. */
  outcomes: string[];
  /** It is not decided yet. One that waits is decided. */
  isUndecided: boolean;
}

/** `lineKinds`: the kinds of breaks of lines without another outcome. */
export async function listStoredOutcomes(
  db: Db,
  accountId: number,
  lineKinds: readonly string[],
): Promise<StoredOutcome[]> {
  return db.$queryRaw`
    SELECT t.nsu, o.state, o.state IS NULL
             OR t.arrival > COALESCE(s.decided_arrival, 0) AS "isUndecided", stored.outcomes
    FROM statement_line t
    LEFT JOIN reconciliation_state s ON s.account_id = t.account_id
    LEFT JOIN line_outcome o ON o.account_id = t.account_id AND o.nsu = t.nsu
    CROSS JOIN LATERAL (
      SELECT COALESCE(array_agg(text ORDER BY text), '{}') AS outcomes FROM (
        SELECT concat_ws(' ', role, 'by', rule, 'of', expected_payment_id, amount_cents) AS text
        FROM match WHERE account_id = t.account_id AND nsu = t.nsu AND unlinked_at IS NULL
        UNION ALL
        SELECT concat_ws(' ', category, 'by', rule) FROM classification
        WHERE account_id = t.account_id AND nsu = t.nsu
        UNION ALL
        SELECT kind FROM break b
        WHERE account_id = t.account_id AND nsu = t.nsu AND state = 'open'
          AND kind = ANY (${[...lineKinds]}::text[]) AND subject = 'nsu:' || nsu
          AND NOT EXISTS (SELECT FROM match m
            WHERE m.account_id = t.account_id AND m.nsu = t.nsu AND m.unlinked_at IS NULL)
      ) each
    ) stored
    WHERE t.account_id = ${accountId}`;
}

export interface DueSubject {
  nsu: bigint | null;
  expectedPaymentId: string | null;
  operationId: string | null;
}

/**
 * The subjects of due tasks, and payments whose deadline has passed. A task of rules has none:
 * it may concern every line. Nor has a task of a period or of fees, which changes no outcome.
 */
export async function listDueSubjects(db: Db, accountId: number): Promise<DueSubject[]> {
  return db.$queryRaw`
    SELECT CASE WHEN task.kind = 'line' THEN task.nsu END AS nsu,
           COALESCE(task.expected_payment_id, m.expected_payment_id) AS "expectedPaymentId",
           task.operation_id
    FROM reconciliation_task task
    LEFT JOIN match m ON m.account_id = task.account_id AND m.nsu = task.nsu
      AND task.kind = 'line' AND m.unlinked_at IS NULL
    WHERE task.account_id = ${accountId} AND task.due_at <= clock_timestamp()
      AND task.kind NOT IN ('statement', 'period', 'fees')
    UNION ALL
    SELECT NULL, total.expected_payment_id, NULL FROM expected_payment_total total
    JOIN reconciliation_state r ON r.account_id = total.account_id
    WHERE total.account_id = ${accountId} AND total.deadline <= r.as_of`;
}

/** Counters that differ from the rows that they count. */
export async function listCounterDifferences(
  db: Db,
  accountId: number,
): Promise<{ subject: string; stored: string; computed: string }[]> {
  return db.$queryRaw`
    WITH counted AS (
      SELECT 'lines' AS kind, state::text AS key, count(*) AS value FROM line_outcome
      WHERE account_id = ${accountId} GROUP BY state
      UNION ALL
      SELECT 'open_payments', COALESCE(last_payment_day, ''), count(*) FROM expected_payment_total
      WHERE account_id = ${accountId} AND settlement = 'open' GROUP BY 2
      UNION ALL
      SELECT 'open_breaks', kind, count(*) FROM break
      WHERE account_id = ${accountId} AND state = 'open' GROUP BY kind
      UNION ALL
      SELECT 'webhooks', 'processed', sum(copies) FROM webhook_event
      WHERE account_id = ${accountId} AND state = 'processed'
    )
    SELECT concat_ws(' ', 'counter of', kind, key) AS subject,
           COALESCE(stored.value, 0)::text AS stored,
           COALESCE(counted.value, 0)::text AS computed
    FROM counted
    FULL JOIN (SELECT * FROM account_counter WHERE account_id = ${accountId}) stored
      USING (kind, key)
    WHERE COALESCE(stored.value, 0) <> COALESCE(counted.value, 0)`;
}

/** Totals of days and of open breaks that differ from the rows that they are of. */
export async function listTotalDifferences(
  db: Db,
  accountId: number,
): Promise<{ subject: string; stored: string; computed: string }[]> {
  return db.$queryRaw`
    WITH computed AS (
      SELECT concat_ws(' ', 'total of day', day_of_line(t.occurred_at), o.state) AS subject,
             concat_ws(' ', count(*), sum(t.amount_cents) FILTER (WHERE t.is_credit),
               sum(t.amount_cents) FILTER (WHERE NOT t.is_credit)) AS value
      FROM line_outcome o
      JOIN statement_line t ON t.account_id = o.account_id AND t.nsu = o.nsu
      WHERE o.account_id = ${accountId} GROUP BY 1
      UNION ALL
      SELECT concat_ws(' ', 'total of open breaks', opened_day_of(opened_day, opened_at), kind,
               reached_steps(amount_cents, amount_steps_of(account_id))), count(*)::text
      FROM break WHERE account_id = ${accountId} AND state = 'open' GROUP BY 1
    ), stored AS (
      SELECT concat_ws(' ', 'total of day', day, state) AS subject,
             concat_ws(' ', line_count, NULLIF(credit_cents, 0), NULLIF(debit_cents, 0)) AS value
      FROM day_total WHERE account_id = ${accountId} AND line_count <> 0
      UNION ALL
      SELECT concat_ws(' ', 'total of open breaks', opened_day, kind, amount_steps),
             break_count::text
      FROM open_break_total WHERE account_id = ${accountId}
    )
    SELECT subject, COALESCE(stored.value, '') AS stored, COALESCE(computed.value, '') AS computed
    FROM computed FULL JOIN stored USING (subject)
    WHERE stored.value IS DISTINCT FROM computed.value`;
}
