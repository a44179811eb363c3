// Writes of several modules that are sent as one statement. Otherwise each of them is a round trip
// of its own, which costs more than its rows.
import type { SqlTx } from './database.service.js';
import { Prisma } from './generated/service/client.js';
import { AppError } from './platform/errors.js';

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
  if (writes.length === 0) return;
  const names = writes.map((_, index) => Prisma.raw(`write_${index}`));
  const parts = writes.map(({ sql }, index) => Prisma.sql`${names[index]} AS (${sql} RETURNING 1)`);
  const counts = names.map((name) => Prisma.sql`(SELECT count(*)::int FROM ${name})`);
  const [result] = await tx.$queryRaw<{ counts: number[] }[]>`
    WITH ${Prisma.join(parts, ', ')} SELECT ARRAY[${Prisma.join(counts, ', ')}] AS counts`;
  const isComplete = writes.every(({ rows }, at) => rows === null || rows === result?.counts[at]);
  if (!isComplete) throw new AppError('conflict');
}
