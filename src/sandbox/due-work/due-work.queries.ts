import type { Queryable, SandboxTx } from '../sandbox-database.service.js';

export interface DueTask {
  kind: string;
  /** The id of the row that the task is about. */
  subject: string;
  /** By the bank's clock. */
  dueAt: Date;
}

export async function insertDueTask(tx: SandboxTx, task: DueTask): Promise<void> {
  await tx.query('INSERT INTO due_task (kind, subject, due_at) VALUES ($1, $2, $3)', [
    task.kind,
    task.subject,
    task.dueAt,
  ]);
}

export interface ClaimedTask {
  id: bigint;
  kind: string;
  subject: string;
}

/**
 * Claims and deletes the first due task in `tx`. Skips tasks that other transactions have claimed.
 */
export async function claimDueTask(
  tx: SandboxTx,
  { now, skippedIds }: { now: Date; skippedIds: bigint[] },
): Promise<ClaimedTask | null> {
  const [task] = await tx.query<ClaimedTask>(
    `DELETE FROM due_task WHERE id = (
       SELECT id FROM due_task WHERE due_at <= $1 AND id <> ALL ($2::bigint[])
       ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
     ) RETURNING id, kind, subject`,
    [now, skippedIds],
  );
  return task ?? null;
}

/** When the next task is due. Null when there is no task except those in `skippedIds`. */
export async function findNextDueTime(
  database: Queryable,
  skippedIds: bigint[],
): Promise<Date | null> {
  const [row] = await database.query<{ due_at: Date }>(
    `SELECT due_at FROM due_task WHERE id <> ALL ($1::bigint[]) ORDER BY due_at, id LIMIT 1`,
    [skippedIds],
  );
  return row?.due_at ?? null;
}
