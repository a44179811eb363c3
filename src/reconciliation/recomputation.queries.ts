// Reads what is stored about every line and break of an account, to compare it with a
// recomputation.
import type { Db } from '../database.service.js';

export interface StoredOutcome {
  nsu: bigint;
  /** Its matches, its classification or its break, each as text. */
  outcomes: string[];
  /** It is not decided yet, or it waits. */
  isPending: boolean;
}

/** `lineKinds`: the kinds of breaks of lines without another outcome. */
export async function listStoredOutcomes(
  db: Db,
  accountId: number,
  lineKinds: readonly string[],
): Promise<StoredOutcome[]> {
  return db.$queryRaw`
    SELECT t.nsu, d.nsu IS NOT NULL OR t.arrival > COALESCE(s.decided_arrival, 0) AS "isPending",
           stored.outcomes
    FROM statement_line t
    LEFT JOIN reconciliation_state s ON s.account_id = t.account_id
    LEFT JOIN deferred_line d ON d.account_id = t.account_id AND d.nsu = t.nsu
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

export interface StoredOpenBreak {
  kind: string;
  subject: string;
  amountCents: bigint | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
}

/** The open breaks that follow from findings about lines and payments. */
export async function listStoredOpenBreaks(
  db: Db,
  accountId: number,
  kinds: readonly string[],
): Promise<StoredOpenBreak[]> {
  return db.$queryRaw`
    SELECT kind, subject, amount_cents AS "amountCents", nsu,
           expected_payment_id AS "expectedPaymentId"
    FROM break
    WHERE account_id = ${accountId} AND state = 'open' AND kind = ANY (${[...kinds]}::text[])
      AND subject NOT LIKE 'day:%' AND subject NOT LIKE 'bill_payment:%'`;
}

export interface DueSubject {
  nsu: bigint | null;
  expectedPaymentId: string | null;
}

/** The subjects of due tasks. A task of rules has neither: it may concern every line. */
export async function listDueSubjects(db: Db, accountId: number): Promise<DueSubject[]> {
  return db.$queryRaw`
    SELECT CASE WHEN kind = 'line' THEN nsu END AS nsu,
           expected_payment_id AS "expectedPaymentId"
    FROM reconciliation_task
    WHERE account_id = ${accountId} AND due_at <= clock_timestamp()`;
}
