// Paging that all lists of `/v1` share: the query has `limit` and an opaque `cursor`, the response
// is `{ data, next }`.
import { z } from 'zod';
import { patternText, plainDate, queryInteger, text } from '../../bank-contract/wire.js';
import { AppError, invalidField } from '../errors.js';

const defaultLimit = 50;
const maxLimit = 500;
const orders = ['desc', 'asc'] as const;
export type Order = (typeof orders)[number];

/** The query schema of a list: its own filters, `limit` and `cursor`. */
export function listQuery<Filters extends z.core.$ZodLooseShape>(filters: Filters) {
  return z.object({
    ...filters,
    limit: queryInteger(1).optional(),
    cursor: text(300).optional(),
  });
}

/** As `listQuery`, of a list that can be read from its oldest item on. */
export function orderedListQuery<Filters extends z.core.$ZodLooseShape>(filters: Filters) {
  const order = z.enum(orders).optional().describe('`asc`: the oldest first. Default: `desc`.');
  return listQuery({ ...filters, order });
}

/** An amount in a query, in cents. */
export const queryReais = patternText(15, /^\d{1,12}(\.\d{1,2})?$/, 'Must be an amount in reais.')
  .meta({ type: 'number', minimum: 0 })
  .transform((value) => {
    const [whole = '0', cents = ''] = value.split('.');
    return BigInt(whole) * 100n + BigInt(cents.padEnd(2, '0'));
  });

/** The filters of a list of payments: days in São Paulo, and amounts. */
export const paymentRange = {
  createdFrom: plainDate.optional().describe('Created from this day in São Paulo on.'),
  createdTo: plainDate.optional().describe('Created until this day in São Paulo.'),
  minAmount: queryReais.optional(),
  maxAmount: queryReais.optional(),
};

/**
 * The response schema of a list. `next` is the cursor of the next page, or null. A page that rare
 * filters select may hold fewer items than `limit`, or none, and have a next page.
 */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next: z.string().nullable() });
}

export interface Page {
  limit: number;
  /** The key of the row before the page; null for the first page. */
  after: string | null;
  /** `desc`, the newest first, where the list has no other or the query does not say it. */
  order?: Order;
}

/**
 * Reads the page of a query. Throws `validation_failed` when the cursor does not hold a key by
 * `isKey`.
 */
export function readPage(
  query: { limit?: number | undefined; cursor?: string | undefined; order?: Order | undefined },
  isKey: (text: string) => boolean,
): Page {
  const limit = Math.min(query.limit ?? defaultLimit, maxLimit);
  const { order = 'desc' } = query;
  if (query.cursor === undefined) return { limit, after: null, order };
  const after = Buffer.from(query.cursor, 'base64url').toString('utf8');
  if (!isKey(after))
    throw invalidField('$.cursor', 'Must be the `next` of a response of this list.');
  return { limit, after, order };
}

/** The condition of the ids that come after a page's. */
export const idsAfter = ({ after, order }: Page) => ({
  [order === 'asc' ? 'gt' : 'lt']: after ?? undefined,
});

/** The rows of a page in the order of their ids, and one more. */
export const pageById = ({ limit, order = 'desc' }: Page) => ({
  orderBy: { id: order },
  take: limit + 1,
});

/**
 * Rows that were found by examining a bounded number of keys in the order of the list. Where that
 * ended the search, `lastExamined` is the last of these keys, from which the next page goes on.
 */
export interface FoundRows<Row> {
  rows: Row[];
  lastExamined: string | null;
}

/**
 * The response of a list. Its rows are queried with `limit + 1`: the additional row shows that
 * there is a next page.
 */
export function toList<Row, Item = Row>(
  found: Row[] | FoundRows<Row>,
  { limit }: Page,
  keyOf: (row: Row) => string,
  describe: (row: Row) => Item = (row) => row as unknown as Item,
): { data: Item[]; next: string | null } {
  const { rows, lastExamined } = Array.isArray(found) ? { rows: found, lastExamined: null } : found;
  const pageRows = rows.slice(0, limit);
  const last = pageRows.at(-1);
  const after = rows.length > limit && last ? keyOf(last) : lastExamined;
  const next = after === null ? null : Buffer.from(after).toString('base64url');
  return { data: pageRows.map((row) => describe(row)), next };
}

/** How many rows of a list are counted at most: a page must not cost more as a book grows. */
export const mostCounted = 1_000;

/** What the filters of a list find. Sums are null where not all of it was counted. */
export interface ListTotal {
  count: number;
  /** False where there may be more: `count` is then the least. */
  isComplete: boolean;
  cents?: bigint | null;
  creditCents?: bigint | null;
  debitCents?: bigint | null;
}

/** What was counted of so many examined rows, one more than `mostCounted` where there are more. */
export function toTotal({
  count,
  examined = count,
  ...sums
}: Omit<ListTotal, 'isComplete'> & { examined?: number }): ListTotal {
  if (examined > mostCounted) return { count: Math.min(count, mostCounted), isComplete: false };
  return { count, isComplete: true, ...sums };
}

const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return uuidText.test(value);
}

/** Throws `not_found` for a text that is not a UUID, because it cannot be the id of a row. */
export function readUuid(text: string): string {
  if (!isUuid(text)) throw new AppError('not_found');
  return text;
}

export function isNsu(value: string): boolean {
  return /^\d{1,18}$/.test(value);
}

/** The first row that one of these ids finds, in their order. Throws `not_found`. */
export async function findByFirstId<Id, Row>(
  ids: readonly Id[],
  read: (id: Id) => Promise<Row[]>,
): Promise<Row> {
  for (const id of ids) {
    const [row] = await read(id);
    if (row !== undefined) return row;
  }
  throw new AppError('not_found');
}
