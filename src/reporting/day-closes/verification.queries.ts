// Reads what verification checks, in batches that fit in memory: the stored lines, and the chain of
// certificates.
import type { Db } from '../../platform/postgres/database.service.js';
import type { StoredLine } from './stored-line.js';

/** The first `limit` lines above `afterNsu`, by nsu; null: from the first line on. */
export async function listStoredLines(
  db: Db,
  accountId: number,
  afterNsu: bigint | null,
  limit: number,
): Promise<StoredLine[]> {
  return db.$queryRaw<StoredLine[]>`
    SELECT t.nsu, t.arrival, t.bank_id, t.is_credit, t.amount_cents, t.type_name, t.correlation_id,
           t.end_to_end_id, t.external_id, t.original_end_to_end_id, t.movement_id,
           t.idempotency_key, t.bill_code, t.counterparty, t.counterparty_document,
           t.counterparty_masked_tax_id, t.counterparty_name, t.counterparty_ispb,
           t.counterparty_branch, t.counterparty_account, t.message,
           t.paid_on, t.has_one_holder, t.notes, t.balance_previous_cents, t.current_balance_cents,
           t.occurred_at, t.content_hash, t.content, t.salt,
           erasure.commitment AS "erasedCommitment"
    FROM statement_line t
    LEFT JOIN line_erasure erasure ON erasure.account_id = t.account_id AND erasure.nsu = t.nsu
    WHERE t.account_id = ${accountId}
      AND (${afterNsu}::bigint IS NULL OR t.nsu > ${afterNsu}::bigint)
    ORDER BY t.nsu LIMIT ${limit}`;
}

/** The first line that has an outcome and is no longer stored; null if there is none. */
export async function findLostLine(db: Db, accountId: number): Promise<bigint | null> {
  const [lost] = await db.$queryRaw<{ nsu: bigint }[]>`
    SELECT o.nsu FROM line_outcome o
    WHERE o.account_id = ${accountId} AND NOT EXISTS (
      SELECT 1 FROM statement_line t WHERE t.account_id = o.account_id AND t.nsu = o.nsu)
    ORDER BY o.nsu LIMIT 1`;
  return lost?.nsu ?? null;
}

/** The first certificate that an event reported and that is not in the chain; null if none. */
export async function findLostCertificate(
  db: Db,
  accountId: number,
): Promise<{ date: string; sequence: number; hash: string } | null> {
  const [lost] = await db.$queryRaw<{ date: string; sequence: number; hash: string }[]>`
    SELECT e.date, e.sequence, e.hash FROM (
      SELECT data::jsonb->>'date' AS date, (data::jsonb->>'sequence')::int AS sequence,
             data::jsonb->>'hash' AS hash
      FROM event
      WHERE account_id = ${accountId} AND type IN ('day_close.certified', 'day_close.amended')
    ) e WHERE NOT EXISTS (
      SELECT 1 FROM day_close d
      WHERE d.account_id = ${accountId} AND d.sequence = e.sequence AND d.hash = e.hash)
    ORDER BY e.sequence LIMIT 1`;
  return lost ?? null;
}
