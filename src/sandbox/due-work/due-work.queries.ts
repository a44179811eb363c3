import type { Queryable, Tx } from '../sandbox-database.service.js';

export interface DueTask {
  kind: string;
  /** The id of what it is about. */
  subject: string;
  /** By the bank's clock. */
  dueAt: Date;
}

export async function insertTask(tx: Tx, task: DueTask): Promise<void> {
  await tx.query('INSERT INTO due_task (kind, subject, due_at) VALUES ($1, $2, $3)', [
    task.kind,
    task.subject,
    task.dueAt,
  ]);
}

export interface TakenTask {
  id: bigint;
  kind: string;
  subject: string;
}

/** Takes the first task that is due, gone when `tx` is final; those that others have taken are passed over. */
export async function takeDueTask(
  tx: Tx,
  { now, passedOver }: { now: Date; passedOver: bigint[] },
): Promise<TakenTask | null> {
  const [task] = await tx.query<TakenTask>(
    `DELETE FROM due_task WHERE id = (
       SELECT id FROM due_task WHERE due_at <= $1 AND id <> ALL ($2::bigint[])
       ORDER BY due_at, id LIMIT 1 FOR UPDATE SKIP LOCKED
     ) RETURNING id, kind, subject`,
    [now, passedOver],
  );
  return task ?? null;
}

/** When the first task is due, or null when there is none beside those that are passed over. */
export async function findNextDueTask(
  database: Queryable,
  passedOver: bigint[],
): Promise<Date | null> {
  const [row] = await database.query<{ due_at: Date }>(
    `SELECT due_at FROM due_task WHERE id <> ALL ($1::bigint[]) ORDER BY due_at, id LIMIT 1`,
    [passedOver],
  );
  return row?.due_at ?? null;
}
