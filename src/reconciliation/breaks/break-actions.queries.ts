// SQL of actions on a break: its row is locked first, and each step is recorded in the history.
import type { Tx } from '../../platform/postgres/database.service.js';
import type { Break, Prisma } from '../../generated/service/client.js';
import { reportedColumns, type ReportedBreak } from '../apply/break-writer.queries.js';
import type { StoredBreak } from '../load/stored-breaks.queries.js';
import type { DecisionMaker } from '../decide/model.js';

export type LockedBreak = StoredBreak &
  Pick<Break, 'amountCents' | 'operationId' | 'resolution'> & { evidence: { jumps?: unknown } };

/** Locks the break for the transaction; null if the account has no break with this id. */
export async function lockBreak(
  tx: Tx,
  accountId: number,
  id: string,
): Promise<LockedBreak | null> {
  const [found] = await tx.$queryRaw<LockedBreak[]>`
    SELECT id, kind, state, subject, amount_cents, nsu, expected_payment_id, operation_id,
           resolution, evidence
    FROM break WHERE account_id = ${accountId} AND id = ${id}::uuid FOR NO KEY UPDATE`;
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
  detail: Prisma.InputJsonObject = {},
): Promise<void> {
  await tx.breakHistoryEntry.create({
    data: { accountId, breakId, action, actor, reason, detail },
  });
}

export async function resolveBreak(
  tx: Tx,
  accountId: number,
  id: string,
  resolution: string,
  { actor, reason }: DecisionMaker,
): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break
    SET state = 'resolved', resolved_at = clock_timestamp(), resolution = ${resolution},
      resolved_by = ${actor}, resolution_reason = ${reason}
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'open'
    RETURNING ${reportedColumns}`;
}

/** Reopens a resolved break; its age still counts from its first opening. */
export async function reopenBreak(tx: Tx, accountId: number, id: string): Promise<ReportedBreak[]> {
  return tx.$queryRaw<ReportedBreak[]>`
    UPDATE break SET state = 'open'
    WHERE account_id = ${accountId} AND id = ${id}::uuid AND state = 'resolved'
    RETURNING ${reportedColumns}`;
}

/** The line of the break's last `link` action; null if it has none. */
export async function findLastLinkedLine(
  tx: Tx,
  accountId: number,
  breakId: string,
): Promise<bigint | null> {
  const [entry] = await tx.$queryRaw<{ nsu: bigint }[]>`
    SELECT (detail ->> 'nsu')::bigint AS nsu FROM break_history_entry
    WHERE account_id = ${accountId} AND break_id = ${breakId}::uuid AND action = 'link'
    ORDER BY sequence DESC LIMIT 1`;
  return entry?.nsu ?? null;
}
