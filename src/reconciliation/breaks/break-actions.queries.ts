// SQL of actions on a break: its row is locked first, and each step is recorded in the history.
import type { Db, Tx } from '../../database.service.js';
import { subjectOfLine, lineBreakKinds } from '../line-outcome.js';
import { Prisma } from '../../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from '../breaks.queries.js';
import type { DecidedBy } from './manual-matches.queries.js';

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

/** Locks the break for the transaction; null if the account has no break with this id. */
export async function lockBreak(
  tx: Tx,
  accountId: number,
  id: string,
): Promise<LockedBreak | null> {
  const [found] = await tx.$queryRaw<LockedBreak[]>`
    SELECT id, kind, state, subject, amount_cents AS "amountCents", nsu,
           expected_payment_id AS "expectedPaymentId", resolution
    FROM break WHERE account_id = ${accountId} AND id = ${id}::uuid FOR UPDATE`;
  return found ?? null;
}

/**
 * Adds an entry to the history. A trigger of the database adds the entries of state changes.
 */
export async function insertBreakHistoryEntry(
  tx: Tx,
  accountId: number,
  breakId: string,
  action: string,
  { actor, reason }: { actor: string | null; reason: string | null },
  detail: object = {},
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO break_history_entry (account_id, break_id, action, actor, reason, detail)
    VALUES (${accountId}, ${breakId}::uuid, ${action}, ${actor}, ${reason},
            ${JSON.stringify(detail)}::jsonb)`;
}

const resolvedWith = (resolution: string, { actor, reason }: DecidedBy) => Prisma.sql`
  state = 'resolved', resolved_at = now(), resolution = ${resolution}, resolved_by = ${actor},
  resolution_reason = ${reason}`;

export async function resolveBreak(
  tx: Tx,
  accountId: number,
  id: string,
  resolution: string,
  decidedBy: DecidedBy,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET ${resolvedWith(resolution, decidedBy)}
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Resolves the open breaks of a line without an explanation. */
export async function resolveLineBreaks(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  resolution: string,
  decidedBy: DecidedBy,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET ${resolvedWith(resolution, decidedBy)}
    WHERE account_id = ${accountId} AND nsu = ${nsu} AND subject = ${subjectOfLine(nsu)}
      AND state = 'open' AND kind = ANY (${[...lineBreakKinds]}::text[])
    RETURNING ${reportedColumns}`;
}

/** Reopens a resolved break; its age still counts from its first opening. */
export async function reopenBreak(
  tx: Tx,
  accountId: number,
  id: string,
  { actor, reason }: DecidedBy,
): Promise<ReportedBreak[]> {
  await insertBreakHistoryEntry(tx, accountId, id, 'reopen', { actor, reason });
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'open'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'resolved'
    RETURNING ${reportedColumns}`;
}

export async function isLineMatched(tx: Tx, accountId: number, nsu: bigint): Promise<boolean> {
  const found = await tx.match.findFirst({
    where: { accountId, nsu, unlinkedAt: null },
    select: { id: true },
  });
  return found !== null;
}

/** Classifies a line as accepted by a person. An earlier classification stays. */
export async function classifyAccepted(
  tx: Tx,
  accountId: number,
  nsu: bigint,
  { actor, reason }: DecidedBy,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO classification (account_id, nsu, rule, category, reason, evidence)
    VALUES (${accountId}, ${nsu}, 'manual', 'accepted', ${reason},
            jsonb_build_object('actor', ${actor}::text))
    ON CONFLICT (account_id, nsu) DO NOTHING`;
  await tx.$executeRaw`DELETE FROM deferred_line WHERE account_id = ${accountId} AND nsu = ${nsu}`;
}

export async function deleteAcceptedClassification(
  tx: Tx,
  accountId: number,
  nsu: bigint,
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM classification
    WHERE account_id = ${accountId} AND nsu = ${nsu} AND category = 'accepted' AND rule = 'manual'`;
}

export interface BreakLink {
  nsu: bigint;
  isCredit: boolean;
  matchIds: string[];
}

/** The line and matches of the break's last `link` action. */
export async function findLastLink(
  tx: Tx,
  accountId: number,
  breakId: string,
): Promise<BreakLink | null> {
  const [entry] = await tx.$queryRaw<BreakLink[]>`
    SELECT t.nsu, t.is_credit AS "isCredit",
           ARRAY(SELECT jsonb_array_elements_text(e.detail -> 'matchIds')) AS "matchIds"
    FROM break_history_entry e
    JOIN statement_line t ON t.account_id = e.account_id AND t.nsu = (e.detail ->> 'nsu')::bigint
    WHERE e.account_id = ${accountId} AND e.break_id = ${breakId}::uuid AND e.action = 'link'
    ORDER BY e.sequence DESC LIMIT 1`;
  return entry ?? null;
}

/** The ids of the given matches that are not unlinked. */
export async function listLiveMatchIds(
  db: Db,
  accountId: number,
  matchIds: string[],
): Promise<string[]> {
  const rows = await db.match.findMany({
    where: { accountId, id: { in: matchIds }, unlinkedAt: null },
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}
