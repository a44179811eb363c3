// Reads what verification checks, in batches that fit in memory: the stored lines with their line
// hashes, and the chain of certificates.
import type { Db } from '../database.service.js';
import { lineCents } from '../statement/balance-chain.queries.js';
import { hashedColumns } from './certified-lines.queries.js';
import type { CertifiedDayLine } from './chain-check.js';
import type { CutLine } from './cut.js';
import type { CheckedLine } from './stored-line.js';

/** The first `limit` lines above `afterNsu`, by nsu; null: from the first line on. */
export async function listStoredLines(
  db: Db,
  accountId: number,
  afterNsu: bigint | null,
  limit: number,
): Promise<CheckedLine[]> {
  return db.$queryRaw<CheckedLine[]>`
    SELECT ${hashedColumns}, t.counterparty, t.counterparty_document, t.has_one_holder, t.notes,
           t.arrival, t.content, certified.date AS "certifiedDate", certified.commitment,
           certified.line_hash, salt.salt,
           erasure.nsu IS NOT NULL AS "isErased"
    FROM statement_line t
    LEFT JOIN certified_line certified
      ON certified.account_id = t.account_id AND certified.nsu = t.nsu
    LEFT JOIN line_salt salt ON salt.account_id = t.account_id AND salt.nsu = t.nsu
    LEFT JOIN line_erasure erasure ON erasure.account_id = t.account_id AND erasure.nsu = t.nsu
    WHERE t.account_id = ${accountId}
      AND (${afterNsu}::bigint IS NULL OR t.nsu > ${afterNsu}::bigint)
    ORDER BY t.nsu LIMIT ${limit}`;
}

/** The first certified line that is no longer stored; null if there is none. */
export async function findLostLine(
  db: Db,
  accountId: number,
): Promise<{ nsu: bigint; date: string } | null> {
  const [lost] = await db.$queryRaw<{ nsu: bigint; date: string }[]>`
    SELECT s.nsu, s.date FROM certified_line s
    WHERE s.account_id = ${accountId} AND NOT EXISTS (
      SELECT 1 FROM statement_line t WHERE t.account_id = s.account_id AND t.nsu = s.nsu)
    ORDER BY s.nsu LIMIT 1`;
  return lost ?? null;
}

/** The certified lines of a day, by nsu. */
export async function listCertifiedLines(
  db: Db,
  accountId: number,
  date: string,
): Promise<CertifiedDayLine[]> {
  return db.$queryRaw`
    SELECT s.nsu, s.line_hash, t.is_credit, t.amount_cents
    FROM certified_line s JOIN statement_line t ON t.account_id = s.account_id AND t.nsu = s.nsu
    WHERE s.account_id = ${accountId} AND s.date = ${date} ORDER BY s.nsu`;
}

export async function listLineAmounts(
  db: Db,
  accountId: number,
  nsus: bigint[],
): Promise<CutLine[]> {
  if (nsus.length === 0) return [];
  return db.$queryRaw`
    SELECT nsu, occurred_at, ${lineCents} AS "signedCents"
    FROM statement_line WHERE account_id = ${accountId} AND nsu = ANY (${nsus}::bigint[])`;
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
