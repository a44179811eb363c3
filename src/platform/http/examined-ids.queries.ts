// Pages of lists whose filters have no index of their own: a page applies them to a bounded number
// of rows, in the order of the list, and so costs the same however rare the rows are that it looks
// for. So does the count of what the filters find.
import { Prisma } from '../../generated/service/client.js';
import type { Db } from '../postgres/database.service.js';
import { mostCounted, toTotal, type ListTotal, type Order, type Page } from './listing.js';

const maxExamined = 2_000;

export interface ExaminedIds {
  ids: string[];
  lastExamined: string | null;
}

/**
 * A row of a page, beside where the page ended. A page without rows has one row of nulls, which
 * still has the end of the page.
 */
export type RowOfPage<Row, Key> = { [Name in keyof Row]: Row[Name] | null } & {
  lastExamined: Key | null;
};

export function foundRows<Row extends object, Key>(
  rows: RowOfPage<Row, Key>[],
  key: keyof Row,
): { rows: Row[]; lastExamined: Key | null } {
  const lastExamined = rows[0]?.lastExamined ?? null;
  const found = rows.filter((row) => row[key] !== null);
  return { rows: found.map(({ lastExamined: _, ...row }) => row as Row), lastExamined };
}

export interface Examined {
  /** The table, or a query of the few rows that an index of the filters finds. */
  rows: Prisma.Sql;
  /** The column by which the list is ordered. */
  key: Prisma.Sql;
  /** Conditions by columns of `rows`. */
  filters: Prisma.Sql[];
}

/** How the keys of a list follow each other: of what comes after one, and of all. */
export const ordering = (order: Order = 'desc') =>
  order === 'asc'
    ? { past: Prisma.sql`>`, sort: Prisma.sql`ASC` }
    : { past: Prisma.sql`<`, sort: Prisma.sql`DESC` };

/** The rows of an account that an index finds by this condition, and not by the order of ids. */
export const fewRows = (table: Prisma.Sql, accountId: number, condition: Prisma.Sql) =>
  Prisma.sql`(
    SELECT * FROM ${table} WHERE account_id = ${accountId} AND ${condition} OFFSET 0) few`;

/**
 * The ids of a page and the one after it. One statement: a row that another transaction changes
 * between two would be left out by the first, and passed over by the cursor of the second.
 */
export async function listExaminedIds(
  db: Db,
  accountId: number,
  { rows, key, filters }: Examined,
  { after, limit, order }: Page,
): Promise<ExaminedIds> {
  const { past, sort } = ordering(order);
  const examined = Prisma.sql`
    SELECT * FROM ${rows}
    WHERE account_id = ${accountId}
      ${after === null ? Prisma.empty : Prisma.sql`AND ${key} ${past} ${after}::uuid`}
    ORDER BY ${key} ${sort}`;
  const [page] = await db.$queryRaw<ExaminedIds[]>`
    SELECT ids, CASE WHEN cardinality(ids) <= ${limit} THEN (
      SELECT ${key} FROM (${examined} OFFSET ${maxExamined - 1} LIMIT 1) last
    ) END AS last_examined
    FROM (
      SELECT ARRAY(
        SELECT ${key} FROM (${examined} LIMIT ${maxExamined}) examined
        WHERE ${Prisma.join([Prisma.sql`true`, ...filters], ' AND ')}
        ORDER BY ${key} ${sort} LIMIT ${limit + 1}
      ) AS ids OFFSET 0
    ) page`;
  return page ?? { ids: [], lastExamined: null };
}

/** What the filters find among the newest rows, which have an amount: their count and its sum. */
export async function totalExamined(
  db: Db,
  accountId: number,
  { rows, key, filters }: Examined,
): Promise<ListTotal> {
  const [total] = await db.$queryRaw<{ count: number; examined: number; cents: bigint | null }[]>`
    SELECT count(*)::int AS examined, (count(*) FILTER (WHERE is_found))::int AS count,
           (sum(amount_cents) FILTER (WHERE is_found))::bigint AS cents
    FROM (
      SELECT amount_cents, ${Prisma.join([Prisma.sql`true`, ...filters], ' AND ')} AS is_found
      FROM (
        SELECT * FROM ${rows} WHERE account_id = ${accountId}
        ORDER BY ${key} DESC LIMIT ${mostCounted + 1}
      ) examined
    ) found`;
  return toTotal(total ?? { count: 0 });
}
