// Pages of lists whose filters have no index of their own: a page applies them to a bounded number
// of rows, in the order of the list, and so costs the same however rare the rows are that it looks
// for. So does the count of what the filters find.
import { addDays, type PlainDate } from '../../brazil/calendar.js';
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

/** The filters of a list of payments, whose ids begin with the time of their creation. */
export interface PaymentRange {
  createdFrom?: PlainDate | undefined;
  createdTo?: PlainDate | undefined;
  minAmount?: bigint | undefined;
  maxAmount?: bigint | undefined;
}

/** The rows whose ids are of these days in São Paulo; an index of ids finds them. */
export function createdRows(
  table: Prisma.Sql,
  accountId: number,
  key: Prisma.Sql,
  { createdFrom, createdTo }: PaymentRange,
): Prisma.Sql {
  if (createdFrom === undefined && createdTo === undefined) return table;
  const from = createdFrom === undefined ? null : firstIdOf(createdFrom);
  const to = createdTo === undefined ? null : firstIdOf(addDays(createdTo, 1));
  return Prisma.sql`(
    SELECT * FROM ${table} WHERE account_id = ${accountId}
      ${from === null ? Prisma.empty : Prisma.sql`AND ${key} >= ${from}::uuid`}
      ${to === null ? Prisma.empty : Prisma.sql`AND ${key} < ${to}::uuid`}) created`;
}

function firstIdOf(day: PlainDate): string {
  const time = Math.max(0, Date.parse(`${day}T03:00:00Z`))
    .toString(16)
    .padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

export const amountRange = ({ minAmount, maxAmount }: PaymentRange): Prisma.Sql[] => [
  ...(minAmount === undefined ? [] : [Prisma.sql`amount_cents >= ${minAmount}::bigint`]),
  ...(maxAmount === undefined ? [] : [Prisma.sql`amount_cents <= ${maxAmount}::bigint`]),
];

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
