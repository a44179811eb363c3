// The SQL of lines' seals, and of what lies before the first certificate: the lines, and what the account held with them.
import type { Db, Tx } from '../database.service.js';
import { Prisma } from '../generated/service/client.js';
import { findGap, readInitialBalance } from '../statement/balance-chain.queries.js';
import type { Cut, CutLine } from './cut.js';
import type { HashedFields } from './line-hash.js';

/** The ids of a line (t) that a seal covers. */
export const idsOfLine = Prisma.sql`t.correlation_id AS "correlationId", t.end_to_end_id AS "endToEndId",
  t.external_id AS "externalId", t.original_end_to_end_id AS "originalEndToEndId", t.movement_id AS "movementId",
  t.idempotency_key AS "idempotencyKey", t.bill_code AS "billCode"`;

export interface NewCertifiedLine {
  nsu: bigint;
  date: string;
  salt: string;
  commitment: string;
  lineHash: string;
}

export async function insertCertifiedLines(tx: Tx, accountId: number, seals: NewCertifiedLine[]): Promise<void> {
  if (seals.length === 0) return;
  const nsus = seals.map(({ nsu }) => nsu);
  await tx.$executeRaw`
    INSERT INTO certified_line (account_id, nsu, date, commitment, line_hash)
    SELECT ${accountId}, * FROM unnest(${nsus}::bigint[], ${seals.map(({ date }) => date)}::text[],
      ${seals.map(({ commitment }) => commitment)}::text[], ${seals.map(({ lineHash }) => lineHash)}::text[])`;
  await tx.$executeRaw`
    INSERT INTO line_salt (account_id, nsu, salt)
    SELECT ${accountId}, * FROM unnest(${nsus}::bigint[], ${seals.map(({ salt }) => salt)}::text[])`;
}

/** So many lines of before an instant that have no seal. */
export async function listUncertified(
  tx: Tx,
  accountId: number,
  before: Date,
  limit: number,
): Promise<(HashedFields & { contentHash: string })[]> {
  return tx.$queryRaw`
    SELECT t.nsu, t.bank_id AS "bankId", t.is_credit AS "isCredit", t.amount_cents AS "amountCents",
           t.type_name AS "typeName", ${idsOfLine},
           t.balance_previous_cents AS "balancePreviousCents", t.current_balance_cents AS "currentBalanceCents",
           t.occurred_at AS "occurredAt", t.content_hash AS "contentHash"
    FROM statement_line t
    WHERE t.account_id = ${accountId} AND t.occurred_at < ${before} AND NOT EXISTS (
      SELECT 1 FROM certified_line s WHERE s.account_id = t.account_id AND s.nsu = t.nsu)
    ORDER BY t.occurred_at, t.nsu LIMIT ${limit}`;
}

/** Of lines of before a day, by nsu. */
export async function listEarlierCertifiedLines(
  db: Db,
  accountId: number,
  date: string,
): Promise<{ nsu: bigint; lineHash: string }[]> {
  return db.$queryRaw`
    SELECT nsu, line_hash AS "lineHash" FROM certified_line
    WHERE account_id = ${accountId} AND date < ${date} ORDER BY nsu`;
}

/**
 * What the account held at an instant before which there is no certificate: after as many lines by nsu as there are
 * before it by time, or before the first line of all. Where the chain is broken there, as the last of them says.
 */
export async function readAnchor(db: Db, accountId: number, instant: Date): Promise<Cut> {
  const beginning = (await readInitialBalance(db, accountId)) ?? 0n;
  const nothing = { nsu: null, balanceCents: beginning, items: [], differences: [] };
  const lines = await db.statementLine.count({ where: { accountId, occurredAt: { lt: instant } } });
  if (lines === 0) return nothing;
  const byNsu = { where: { accountId }, orderBy: { nsu: 'asc' } } as const;
  const first = await db.statementLine.findFirst(byNsu);
  const last = await db.statementLine.findFirst({ ...byNsu, skip: lines - 1 });
  if (!first || !last) return nothing;
  const { gap, jumps } = await findGap(db, accountId, first.nsu, last.nsu);
  const jumped = jumps
    .filter(({ nsu }) => nsu <= last.nsu)
    .reduce((sum, { cents }) => sum + cents, 0n);
  const balanceCents = gap
    ? last.currentBalanceCents
    : beginning + jumped + (await sumLines(db, accountId, null, last.nsu));
  const items = await listStraddling(db, accountId, last.nsu, instant);
  return { nsu: last.nsu, balanceCents, items, differences: [] };
}

/** What the lines come to that follow one by nsu, up to another. */
export async function sumLines(
  db: Db,
  accountId: number,
  afterNsu: bigint | null,
  untilNsu: bigint,
): Promise<bigint> {
  const [found] = await db.$queryRaw<{ cents: bigint }[]>`
    SELECT COALESCE(sum(CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END), 0)::bigint AS cents
    FROM statement_line
    WHERE account_id = ${accountId} AND nsu <= ${untilNsu} AND (${afterNsu}::bigint IS NULL OR nsu > ${afterNsu}::bigint)`;
  return found?.cents ?? 0n;
}

/** Lines that stand on the other side of the cut than their time does. */
async function listStraddling(
  db: Db,
  accountId: number,
  nsu: bigint,
  instant: Date,
): Promise<CutLine[]> {
  return db.$queryRaw`
    SELECT nsu, occurred_at AS "occurredAt",
           CASE WHEN is_credit THEN amount_cents ELSE -amount_cents END AS "signedCents"
    FROM statement_line
    WHERE account_id = ${accountId}
      AND ((nsu <= ${nsu} AND occurred_at >= ${instant}) OR (nsu > ${nsu} AND occurred_at < ${instant}))
    ORDER BY nsu`;
}
