// Pages of lists whose filters have no index of their own: a page applies them to a bounded number
// of rows, the newest first, and so costs the same however rare the rows are that it looks for.
import { Prisma } from './generated/service/client.js';
import type { Db } from './database.service.js';
import type { Page } from './platform/listing.js';

const maxExamined = 2_000;

export interface ExaminedIds {
  ids: string[];
  lastExamined: string | null;
}

interface Examined {
  /** The table, or a query of the few rows that an index of the filters finds. */
  rows: Prisma.Sql;
  /** The column by which the list is ordered. */
  key: Prisma.Sql;
  /** Conditions by columns of `rows`. */
  filters: Prisma.Sql[];
}

/** The rows of an account that an index finds by this condition, and not by the order of ids. */
export const fewRows = (table: Prisma.Sql, accountId: number, condition: Prisma.Sql) =>
  Prisma.sql`(
    SELECT * FROM ${table} WHERE account_id = ${accountId} AND ${condition} OFFSET 0) few`;

/** The ids of a page and the one after it. */
export async function listExaminedIds(
  db: Db,
  accountId: number,
  { rows, key, filters }: Examined,
  { after, limit }: Page,
): Promise<ExaminedIds> {
  const examined = Prisma.sql`
    SELECT * FROM ${rows}
    WHERE account_id = ${accountId}
      ${after === null ? Prisma.empty : Prisma.sql`AND ${key} < ${after}::uuid`}
    ORDER BY ${key} DESC`;
  const found = await db.$queryRaw<{ id: string }[]>`
    SELECT ${key} AS id FROM (${examined} LIMIT ${maxExamined}) examined
    WHERE ${Prisma.join([Prisma.sql`true`, ...filters], ' AND ')}
    ORDER BY ${key} DESC LIMIT ${limit + 1}`;
  const ids = found.map(({ id }) => id);
  if (ids.length > limit) return { ids, lastExamined: null };
  const [last] = await db.$queryRaw<{ id: string }[]>`
    SELECT ${key} AS id FROM (${examined} OFFSET ${maxExamined - 1} LIMIT 1) examined`;
  return { ids, lastExamined: last?.id ?? null };
}
