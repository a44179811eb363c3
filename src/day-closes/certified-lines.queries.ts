// Writes and reads certified lines (line hashes and salts), and reads the cut at which the first
// certificate starts.
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { findGap, readInitialBalance, lineCents } from '../statement/balance-chain.queries.js';
import type { Cut, CutLine } from './cut.js';
import type { HashedFields } from './line-hash.js';

/** The fields of a line (t) that its line hash covers, directly or by the hash of its content. */
export const hashedColumns = Prisma.sql`
  t.nsu, t.bank_id, t.is_credit, t.amount_cents, t.type_name, t.correlation_id, t.end_to_end_id,
  t.external_id, t.original_end_to_end_id, t.movement_id, t.idempotency_key, t.bill_code,
  t.balance_previous_cents, t.current_balance_cents, t.occurred_at, t.content_hash`;

export interface NewCertifiedLine {
  nsu: bigint;
  date: string;
  salt: string;
  commitment: string;
  lineHash: string;
}

export async function insertCertifiedLines(
  tx: Tx,
  accountId: number,
  lines: NewCertifiedLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const nsus = lines.map(({ nsu }) => nsu);
  const dates = lines.map(({ date }) => date);
  const commitments = lines.map(({ commitment }) => commitment);
  const lineHashes = lines.map(({ lineHash }) => lineHash);
  const salts = lines.map(({ salt }) => salt);
  await tx.$executeRaw`
    INSERT INTO certified_line (account_id, nsu, date, commitment, line_hash)
    SELECT ${accountId}, * FROM unnest(${nsus}::bigint[], ${dates}::text[],
      ${commitments}::text[], ${lineHashes}::text[])`;
  await tx.$executeRaw`
    INSERT INTO line_salt (account_id, nsu, salt)
    SELECT ${accountId}, * FROM unnest(${nsus}::bigint[], ${salts}::text[])`;
}

/** Lines before an instant that are not certified yet; at most `limit`, oldest first. */
export async function listUncertifiedLines(
  tx: Tx,
  accountId: number,
  before: Date,
  limit: number,
): Promise<(HashedFields & { contentHash: string })[]> {
  return tx.$queryRaw`
    SELECT ${hashedColumns}
    FROM statement_line t
    WHERE t.account_id = ${accountId} AND t.occurred_at < ${before} AND NOT EXISTS (
      SELECT 1 FROM certified_line s WHERE s.account_id = t.account_id AND s.nsu = t.nsu)
    ORDER BY t.occurred_at, t.nsu LIMIT ${limit}`;
}

/** The certified lines of all days before `date`, by nsu. */
export async function listEarlierCertifiedLines(
  db: Db,
  accountId: number,
  date: string,
): Promise<{ nsu: bigint; lineHash: string }[]> {
  return db.$queryRaw`
    SELECT nsu, line_hash FROM certified_line
    WHERE account_id = ${accountId} AND date < ${date} ORDER BY nsu`;
}

/**
 * The cut at an instant before the first certificate. It counts as many lines by nsu as there are
 * lines before the instant by time; none if there are none. If the balance chain is broken there,
 * the balance is the current balance of the last counted line.
 */
export async function readOpeningCut(db: Db, accountId: number, instant: Date): Promise<Cut> {
  const initialBalance = (await readInitialBalance(db, accountId)) ?? 0n;
  const initialCut = {
    nsu: null,
    balanceCents: initialBalance,
    straddlingLines: [],
    acceptedDifferences: [],
  };
  const lines = await db.statementLine.count({ where: { accountId, occurredAt: { lt: instant } } });
  if (lines === 0) return initialCut;
  const byNsu = { where: { accountId }, orderBy: { nsu: 'asc' } } as const;
  const first = await db.statementLine.findFirst(byNsu);
  const last = await db.statementLine.findFirst({ ...byNsu, skip: lines - 1 });
  if (!first || !last) return initialCut;
  const { gap, jumps } = await findGap(db, accountId, first.nsu, last.nsu);
  const jumpCents = jumps
    .filter(({ nsu }) => nsu <= last.nsu)
    .reduce((sum, { cents }) => sum + cents, 0n);
  const balanceCents = gap
    ? last.currentBalanceCents
    : initialBalance + jumpCents + (await sumLines(db, accountId, null, last.nsu));
  const straddlingLines = await listStraddlingLines(db, accountId, last.nsu, instant);
  return { nsu: last.nsu, balanceCents, straddlingLines, acceptedDifferences: [] };
}

/** The signed sum of the lines above `afterNsu` (null: from the first) up to `untilNsu`. */
export async function sumLines(
  db: Db,
  accountId: number,
  afterNsu: bigint | null,
  untilNsu: bigint,
): Promise<bigint> {
  const [found] = await db.$queryRaw<{ cents: bigint }[]>`
    SELECT COALESCE(sum(${lineCents}), 0)::bigint AS cents FROM statement_line
    WHERE account_id = ${accountId} AND nsu <= ${untilNsu}
      AND (${afterNsu}::bigint IS NULL OR nsu > ${afterNsu}::bigint)`;
  return found?.cents ?? 0n;
}

/** Lines that are before the cut by nsu and after the instant by time, or the reverse. */
async function listStraddlingLines(
  db: Db,
  accountId: number,
  nsu: bigint,
  instant: Date,
): Promise<CutLine[]> {
  return db.$queryRaw`
    SELECT nsu, occurred_at, ${lineCents} AS "signedCents" FROM statement_line
    WHERE account_id = ${accountId}
      AND ((nsu <= ${nsu} AND occurred_at >= ${instant})
        OR (nsu > ${nsu} AND occurred_at < ${instant}))
    ORDER BY nsu`;
}
