// The counts of an account's summary, in one statement, from counters and from what is unfinished.
import type { Db } from '../../platform/postgres/database.service.js';
import type { BankAccount, StatementState } from '../../generated/service/client.js';

type Counted =
  | ('total' | 'matched' | 'classified' | 'inBreak')
  | ('open' | 'overdue' | 'openBreaks')
  | ('sending' | 'unknown' | 'needsOperator' | 'awaitingApproval')
  | ('webhooksReceived' | 'webhooksPending' | 'webhooksQuarantined')
  | ('deliveriesPending' | 'deliveriesDead')
  | ('syncs' | 'unreadableLines');

type SummaryRow = Record<Counted, bigint> &
  Pick<BankAccount, 'mode'> & { modeSince: Date | null; modeReason: string | null } & Pick<
    StatementState,
    'lastNsu' | 'closedUntil' | 'balanceCents' | 'syncedAt' | 'readFailure' | 'readFailedSince'
  > & {
    complete: boolean;
    registrationFailure: string | null;
    refusedEventTypes: string[] | null;
  };

export async function loadSummary(db: Db, accountId: number, today: string): Promise<SummaryRow> {
  const [row] = await db.$queryRaw<SummaryRow[]>`
    SELECT a.mode, changed.created_at AS "modeSince", changed.reason AS "modeReason",
           s.last_nsu, s.synced_at IS NOT NULL AND s.first_gap_nsu IS NULL AS complete,
           s.closed_until, s.balance_cents,
           s.synced_at, s.read_failure, s.read_failed_since,
           COALESCE(s.syncs, 0) AS syncs, COALESCE(s.line_count, 0) AS total,
           lines.*, expected.*, breaks.*, operations.*, webhooks.*, deliveries.*,
           registered.failure AS "registrationFailure", registered.refused_event_types,
           (SELECT count(*) FROM unreadable_line WHERE account_id = a.id) AS "unreadableLines"
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    LEFT JOIN webhook_registration_outcome registered ON registered.account_id = a.id
    LEFT JOIN LATERAL (
      SELECT created_at, reason FROM account_mode_change
      WHERE account_id = a.id ORDER BY sequence DESC LIMIT 1
    ) changed ON true
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(value) FILTER (WHERE key = 'matched'), 0)::bigint AS matched,
             COALESCE(sum(value) FILTER (WHERE key = 'classified'), 0)::bigint AS classified,
             COALESCE(sum(value) FILTER (WHERE key = 'in_break'), 0)::bigint AS "inBreak"
      FROM account_counter WHERE account_id = a.id AND kind = 'lines'
    ) lines
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(value), 0)::bigint AS open,
             COALESCE(sum(value) FILTER (WHERE key <> '' AND key < ${today}), 0)::bigint AS overdue
      FROM account_counter WHERE account_id = a.id AND kind = 'open_payments'
    ) expected
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(value), 0)::bigint AS "openBreaks"
      FROM account_counter WHERE account_id = a.id AND kind = 'open_breaks'
    ) breaks
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE state IN ('received', 'sending')) AS sending,
             count(*) FILTER (WHERE state = 'unknown') AS unknown,
             count(*) FILTER (WHERE state = 'needs_operator') AS "needsOperator",
             count(*) FILTER (WHERE state = 'awaiting_approval') AS "awaitingApproval"
      FROM operation WHERE account_id = a.id AND (
        state = 'received' OR state = 'sending' OR state = 'unknown' OR state = 'needs_operator'
        OR state = 'awaiting_approval')
    ) operations
    CROSS JOIN LATERAL (
      SELECT COALESCE(sum(copies), 0)::bigint + COALESCE((
               SELECT value FROM account_counter
               WHERE account_id = a.id AND kind = 'webhooks' AND key = 'processed'), 0)
               AS "webhooksReceived",
             count(*) FILTER (WHERE state = 'pending') AS "webhooksPending",
             count(*) FILTER (WHERE state = 'quarantined') AS "webhooksQuarantined"
      FROM webhook_event WHERE account_id = a.id AND (state = 'pending' OR state = 'quarantined')
    ) webhooks
    CROSS JOIN LATERAL (
      SELECT (SELECT count(*) FROM delivery WHERE account_id = a.id AND state = 'pending')
               AS "deliveriesPending",
             (SELECT count(*) FROM delivery WHERE account_id = a.id AND state = 'dead')
               AS "deliveriesDead"
    ) deliveries
    WHERE a.id = ${accountId}`;
  return row as SummaryRow;
}
