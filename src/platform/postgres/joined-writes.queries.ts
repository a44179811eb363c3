// Writes of several modules that are sent as one statement. Otherwise each of them is a round trip
// of its own, which costs more than its rows.
import type { SqlTx } from './database.service.js';
import { Prisma } from '../../generated/service/client.js';
import { AppError } from '../errors.js';

/**
 * An INSERT, UPDATE or DELETE without `RETURNING` and without `WITH`. It must not read rows that
 * another write of its statement writes: each of them sees what was there before the statement.
 */
export interface Write {
  sql: Prisma.Sql;
  /** How many rows it must write; null where any number is right. */
  rows: number | null;
}

/** Throws `conflict`, which rolls the transaction back, if one of them has not written its rows. */
export async function writeTogether(tx: SqlTx, writes: readonly Write[]): Promise<void> {
  if (!(await areWritten(tx, writes))) throw new AppError('conflict');
}

/** Whether each of them has written its rows. */
export async function areWritten(tx: SqlTx, writes: readonly Write[]): Promise<boolean> {
  if (writes.length === 0) return true;
  const { parts, isComplete } = join(writes);
  const [result] = await tx.$queryRaw<{ isComplete: boolean }[]>`
    WITH ${parts} SELECT ${isComplete} AS is_complete`;
  return result?.isComplete === true;
}

/**
 * The writes as a statement that PostgreSQL refuses if one of them has not written its rows. It is
 * for statements whose result nobody waits for before the commit.
 */
export function completeWrites(writes: readonly Write[]): Prisma.Sql {
  const { parts, isComplete } = join(writes);
  return Prisma.sql`WITH ${parts} SELECT refuse_unless(${isComplete})`;
}

/** The parts of one statement, and the condition that each of them has written its rows. */
function join(writes: readonly Write[]): { parts: Prisma.Sql; isComplete: Prisma.Sql } {
  const names = writes.map((_, index) => Prisma.raw(`write_${index}`));
  const parts = writes.map(({ sql }, index) => Prisma.sql`${names[index]} AS (${sql} RETURNING 1)`);
  const counts = names.map((name) => Prisma.sql`(SELECT count(*)::int FROM ${name})`);
  const expected = writes.map(({ rows }, index) => rows ?? counts[index]);
  const isComplete = Prisma.sql`
    ARRAY[${Prisma.join(counts, ', ')}] = ARRAY[${Prisma.join(expected, ', ')}]::int[]`;
  return { parts: Prisma.join(parts, ', '), isComplete };
}
