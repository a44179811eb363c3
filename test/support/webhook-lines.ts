// Lines and syncs that webhooks wait for, without a bank.
import type { ServiceDatabase } from './service-database.js';

export interface LineIds {
  correlationId?: string;
  endToEndId?: string;
}

interface ReportedLine extends LineIds {
  nsu: number;
  /** When the line is stored, from now. */
  inSeconds: number;
}

/** Records a completed sync that began this many seconds from now. */
export async function recordSyncBegun(
  { database, accountId }: ServiceDatabase,
  secondsFromNow: number,
): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_state (account_id, last_sync_started_at)
     VALUES ($1, clock_timestamp() + $2 * interval '1 second')
     ON CONFLICT (account_id) DO UPDATE SET last_sync_started_at = EXCLUDED.last_sync_started_at`,
    [accountId, secondsFromNow],
  );
}

export async function addReportedLine(
  { database, accountId }: ServiceDatabase,
  { nsu, correlationId, endToEndId, inSeconds }: ReportedLine,
): Promise<void> {
  await database.pool.query(
    `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
       correlation_id, end_to_end_id, balance_previous_cents, current_balance_cents, occurred_at,
       content_hash, content, recorded_at)
     VALUES ($1, $2, 'x', true, 1000, 'CREDIT_PIX', $3, $4, 0, 0, now(), 'h', '{}',
             clock_timestamp() + $5 * interval '1 second')`,
    [accountId, nsu, correlationId ?? null, endToEndId ?? null, inSeconds],
  );
}
