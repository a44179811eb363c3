// The counts of an account's summary, in one statement.
import type { Db } from '../../database.service.js';
import { explainsItsLine } from './transactions.queries.js';

export interface SummaryRow {
  lastNsu: bigint | null;
  complete: boolean;
  closedUntil: Date | null;
  balanceCents: bigint | null;
  syncedAt: Date | null;
  syncs: bigint;
  unreadableLines: bigint;
  total: bigint;
  matched: bigint;
  classified: bigint;
  inBreak: bigint;
  open: bigint;
  overdue: bigint;
  sending: bigint;
  unknown: bigint;
  needsOperator: bigint;
  openBreaks: bigint;
  webhooksReceived: bigint;
  webhooksPending: bigint;
  webhooksQuarantined: bigint;
  deliveriesPending: bigint;
  deliveriesDead: bigint;
}

export async function loadSummary(db: Db, accountId: number, today: string): Promise<SummaryRow> {
  const [row] = await db.$queryRaw<SummaryRow[]>`
    SELECT s.last_nsu AS "lastNsu", s.synced_at IS NOT NULL AND s.first_gap_nsu IS NULL AS complete,
           s.closed_until AS "closedUntil", s.balance_cents AS "balanceCents",
           s.synced_at AS "syncedAt", COALESCE(s.syncs, 0) AS syncs,
           lines.*, expected.*, operations.*, webhooks.*, deliveries.*,
           (SELECT count(*) FROM unreadable_line WHERE account_id = a.id) AS "unreadableLines",
           (SELECT count(*) FROM break WHERE account_id = a.id AND state = 'open') AS "openBreaks"
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    CROSS JOIN LATERAL (
      WITH in_break AS MATERIALIZED (
        SELECT DISTINCT nsu FROM break
        WHERE account_id = a.id AND ${explainsItsLine} AND nsu IS NOT NULL
      ), linked AS MATERIALIZED (
        SELECT DISTINCT nsu FROM match WHERE account_id = a.id AND unlinked_at IS NULL
      )
      -- The order of a line's explanation: an open break, a match, a classification.
      SELECT (SELECT count(*) FROM statement_line WHERE account_id = a.id) AS total,
             (SELECT count(*) FROM in_break) AS "inBreak",
             -- Set operations are hashed or sorted, whatever the statistics say.
             (SELECT count(*) FROM (
                SELECT nsu FROM linked EXCEPT SELECT nsu FROM in_break) only_linked) AS matched,
             (SELECT count(*) FROM (
                SELECT nsu FROM classification WHERE account_id = a.id
                EXCEPT (SELECT nsu FROM in_break UNION ALL SELECT nsu FROM linked)
              ) only_classified) AS classified
    ) lines
    CROSS JOIN LATERAL (
      -- Set operations too: single look-ups of hundreds of thousands of rows take seconds.
      WITH unpaid AS MATERIALIZED (
        SELECT id FROM expected_payment WHERE account_id = a.id AND withdrawn_at IS NULL
        EXCEPT (
          SELECT expected_payment_id FROM match WHERE account_id = a.id AND unlinked_at IS NULL
          UNION ALL
          SELECT expected_payment_id FROM charge WHERE account_id = a.id
            AND cancelled_at IS NOT NULL)
      ), postponed AS MATERIALIZED (
        SELECT expected_payment_id AS id, bank_due_date FROM charge
        WHERE account_id = a.id AND bank_due_date <> due_date
      )
      SELECT (SELECT count(*) FROM unpaid) AS open, (SELECT count(*) FROM (
        (SELECT id FROM unpaid
         INTERSECT SELECT id FROM expected_payment WHERE account_id = a.id AND due_date < ${today}
         EXCEPT SELECT id FROM postponed)
        UNION ALL
        (SELECT id FROM unpaid INTERSECT SELECT id FROM postponed WHERE bank_due_date < ${today})
      ) late) AS overdue
    ) expected
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE state IN ('received', 'sending')) AS sending,
             count(*) FILTER (WHERE state = 'unknown') AS unknown,
             count(*) FILTER (WHERE state = 'needs_operator') AS "needsOperator"
      FROM operation WHERE account_id = a.id
    ) operations
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(copies), 0)::bigint AS "webhooksReceived",
             count(*) FILTER (WHERE state = 'pending') AS "webhooksPending",
             count(*) FILTER (WHERE state = 'quarantined') AS "webhooksQuarantined"
      FROM webhook_event WHERE account_id = a.id
    ) webhooks
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE state = 'pending') AS "deliveriesPending",
             count(*) FILTER (WHERE state = 'dead') AS "deliveriesDead"
      FROM delivery WHERE account_id = a.id
    ) deliveries
    WHERE a.id = ${accountId}`;
  return row as SummaryRow;
}
