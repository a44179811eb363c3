// How far a charge has come on its way to a reconciled payment: each step by one key.
import type { SqlTx } from '../../platform/postgres/database.service.js';

export interface ChargeProgress {
  correlationId: string;
  createdAt: Date;
  /** When its first webhook was received. Most name the line, and are found with it. */
  webhookAt: Date | null;
  /** When its first line was stored. */
  lineAt: Date | null;
  nsu: bigint | null;
  amountCents: bigint | null;
  matchedAt: Date | null;
  /** When the event that it was paid was recorded. */
  eventAt: Date | null;
}

export async function findChargeProgress(
  db: SqlTx,
  accountId: number,
  correlationId: string,
): Promise<ChargeProgress | null> {
  const [found] = await db.$queryRaw<ChargeProgress[]>`
    SELECT c.correlation_id, c.created_at, w.received_at AS "webhookAt",
           COALESCE(ml.recorded_at, l.recorded_at) AS "lineAt", COALESCE(m.nsu, l.nsu) AS nsu,
           COALESCE(ml.amount_cents, l.amount_cents) AS "amountCents",
           m.created_at AS "matchedAt", e.created_at AS "eventAt"
    FROM charge c
    LEFT JOIN LATERAL (
      SELECT nsu, amount_cents, recorded_at, end_to_end_id FROM statement_line
      WHERE account_id = c.account_id AND correlation_id = c.correlation_id
      ORDER BY nsu LIMIT 1) l ON true
    LEFT JOIN LATERAL (
      SELECT nsu, created_at FROM match
      WHERE account_id = c.account_id AND expected_payment_id = c.expected_payment_id
        AND role = 'payment' AND unlinked_at IS NULL
      ORDER BY nsu LIMIT 1) m ON true
    LEFT JOIN statement_line ml ON ml.account_id = c.account_id AND ml.nsu = m.nsu
    LEFT JOIN LATERAL (
      SELECT min(received_at) AS received_at FROM (
        SELECT received_at FROM webhook_event
        WHERE account_id = c.account_id AND reference_kind = 'correlation_id'
          AND reference = c.correlation_id
        UNION ALL
        SELECT received_at FROM webhook_event
        WHERE account_id = c.account_id AND reference_kind = 'nsu'
          AND reference = COALESCE(m.nsu, l.nsu)::text
        UNION ALL
        SELECT received_at FROM webhook_event
        WHERE account_id = c.account_id AND reference_kind = 'end_to_end_id'
          AND reference = COALESCE(ml.end_to_end_id, l.end_to_end_id)) w) w ON true
    LEFT JOIN LATERAL (
      SELECT created_at FROM event
      WHERE account_id = c.account_id AND resource_kind = 'charge'
        AND resource_id = c.correlation_id AND type = 'charge.paid'
      ORDER BY sequence LIMIT 1) e ON true
    WHERE c.account_id = ${accountId} AND c.correlation_id = ${correlationId}`;
  return found ?? null;
}

/** The newest charge of the account; null while there is none. */
export async function findNewestCharge(db: SqlTx, accountId: number): Promise<string | null> {
  const [found] = await db.$queryRaw<{ correlationId: string }[]>`
    SELECT correlation_id FROM charge WHERE account_id = ${accountId}
    ORDER BY operation_id DESC LIMIT 1`;
  return found?.correlationId ?? null;
}

export interface Connection {
  /** When the bank last answered a complete sync; null before the first. */
  syncedAt: Date | null;
  isLive: boolean;
}

export async function findConnection(db: SqlTx, accountId: number): Promise<Connection> {
  const [found] = await db.$queryRaw<Connection[]>`
    SELECT s.synced_at, a.mode = 'live' AS "isLive"
    FROM bank_account a LEFT JOIN statement_state s ON s.account_id = a.id
    WHERE a.id = ${accountId}`;
  return found ?? { syncedAt: null, isLive: false };
}
