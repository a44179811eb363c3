// The SQL of what is done about a break: its row is locked first, and each step is written down.
import type { Db, Tx } from '../../database.service.js';
import { subjectOfLine, lineBreakKinds } from '../line-outcome.js';
import { Prisma } from '../../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from '../breaks.queries.js';
import type { Hand } from './manual-matches.queries.js';

export interface LockedBreak {
  id: string;
  kind: string;
  state: 'open' | 'resolved';
  subject: string;
  amountCents: bigint | null;
  nsu: bigint | null;
  expectedPaymentId: string | null;
  resolution: string | null;
}

/** The break, held for the rest of the transaction; null where the account has none of this id. */
export async function lockBreak(
  tx: Tx,
  accountId: number,
  id: string,
): Promise<LockedBreak | null> {
  const [found] = await tx.$queryRaw<LockedBreak[]>`
    SELECT id, kind, state, subject, amount_cents AS "amountCents", nsu, expected_payment_id AS "expectedPaymentId",
           resolution
    FROM break WHERE account_id = ${accountId} AND id = ${id}::uuid FOR UPDATE`;
  return found ?? null;
}

/** Writes down what was asked for, or what came of it; changes of the state are written by the database itself. */
export async function writeEntry(
  tx: Tx,
  accountId: number,
  breakId: string,
  action: string,
  { actor, reason }: { actor: string | null; reason: string | null },
  detail: object = {},
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO break_history_entry (account_id, break_id, action, actor, reason, detail)
    VALUES (${accountId}, ${breakId}::uuid, ${action}, ${actor}, ${reason}, ${JSON.stringify(detail)}::jsonb)`;
}

const settledBy = (resolution: string, { actor, reason }: Hand) => Prisma.sql`
  state = 'resolved', resolved_at = now(), resolution = ${resolution}, resolved_by = ${actor},
  resolution_reason = ${reason}`;

export async function resolveBreak(
  tx: Tx,
  accountId: number,
  id: string,
  resolution: string,
  hand: Hand,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET ${settledBy(resolution, hand)}
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Whatever kept a line unexplained is settled. */
export async function resolveLineBreaks(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  resolution: string,
  hand: Hand,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET ${settledBy(resolution, hand)}
    WHERE account_id = ${accountId} AND nsu = ${nsu} AND subject = ${subjectOfLine(nsu)} AND state = 'open'
      AND kind = ANY (${[...lineBreakKinds]}::text[])
    RETURNING ${reportedColumns}`;
}

/** Opens a break again; it goes on ageing from when it was opened first. */
export async function reopenBreak(
  tx: Tx,
  accountId: number,
  id: string,
  { actor, reason }: Hand,
): Promise<ReportedBreak[]> {
  await writeEntry(tx, accountId, id, 'reopen', { actor, reason });
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'open' WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'resolved'
    RETURNING ${reportedColumns}`;
}

export async function isMatched(tx: Tx, accountId: number, nsu: bigint): Promise<boolean> {
  const found = await tx.match.findFirst({
    where: { accountId, nsu, unlinkedAt: null },
    select: { id: true },
  });
  return found !== null;
}

/** That a line needs no match, on a person's word; what it was classified as before stays. */
export async function classifyAccepted(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  { actor, reason }: Hand,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence)
    VALUES (${accountId}, ${nsu}, 'manual', 'accepted', ${reason}, jsonb_build_object('actor', ${actor}::text))
    ON CONFLICT (account_id, nsu) DO NOTHING`;
  await tx.$executeRaw`DELETE FROM deferred_line WHERE account_id = ${accountId} AND nsu = ${nsu}`;
}

export async function deleteAccepted(tx: Tx, accountId: number, nsu: bigint): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM classification
    WHERE account_id = ${accountId} AND nsu = ${nsu} AND category = 'accepted' AND rule = 'manual'`;
}

export interface LinkEntry {
  nsu: bigint;
  isCredit: boolean;
  matchIds: string[];
}

/** What the last link of a break made. */
export async function findLastLink(
  tx: Tx,
  accountId: number,
  breakId: string,
): Promise<LinkEntry | null> {
  const [entry] = await tx.$queryRaw<LinkEntry[]>`
    SELECT t.nsu, t.is_credit AS "isCredit",
           ARRAY(SELECT jsonb_array_elements_text(e.detail -> 'matchIds')) AS "matchIds"
    FROM break_history_entry e
    JOIN statement_line t ON t.account_id = e.account_id AND t.nsu = (e.detail ->> 'nsu')::bigint
    WHERE e.account_id = ${accountId} AND e.break_id = ${breakId}::uuid AND e.action = 'link'
    ORDER BY e.sequence DESC LIMIT 1`;
  return entry ?? null;
}

/** Which of these matches still stand. */
export async function liveOf(db: Db, accountId: number, matchIds: string[]): Promise<string[]> {
  const rows = await db.match.findMany({
    where: { accountId, id: { in: matchIds }, unlinkedAt: null },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}
