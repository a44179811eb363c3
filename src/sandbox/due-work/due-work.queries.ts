import type { DueTask as DueTaskRow } from '../../generated/sandbox/client.js';
import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

/** `subject` is the id of the row that the task is about; `dueAt` is by the bank's clock. */
export type DueTask = Omit<DueTaskRow, 'id'>;
export type ClaimedTask = Pick<DueTaskRow, 'id' | 'kind' | 'subject'>;

/** Claims and deletes the first due task. Skips tasks that other transactions have claimed. */
export function claimDueTask(
  tx: SandboxTx,
  { now, skippedIds }: { now: Date; skippedIds: bigint[] },
): Promise<ClaimedTask | null> {
  return tx.find(
    `DELETE FROM due_task WHERE id = (
       SELECT id FROM due_task WHERE due_at <= $1 AND id <> ALL ($2::bigint[])
       ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
     ) RETURNING id, kind, subject`,
    [now, skippedIds],
  );
}

/** When the next task is due. Null when there is no task except those in `skippedIds`. */
export async function findNextDueTime(
  database: Queryable,
  skippedIds: bigint[],
): Promise<Date | null> {
  const next = await database.find<{ dueAt: Date }>(
    `SELECT due_at FROM due_task WHERE id <> ALL ($1::bigint[]) ORDER BY due_at, id LIMIT 1`,
    [skippedIds],
  );
  return next?.dueAt ?? null;
}
