// What every list of `/v1` shares: `{ data, next }`, newest first, `limit` and an opaque `cursor`.
import { z } from 'zod';
import { queryInteger, text } from '../contract/wire.js';
import { AppError } from './errors.js';

const defaultLimit = 50;
const maxLimit = 500;

/** Limit, cursor and the list's own filters. */
export function listQuery<Filters extends z.core.$ZodLooseShape>(filters: Filters) {
  return z.object({
    ...filters,
    limit: queryInteger(1).optional(),
    cursor: text(300).optional(),
  });
}

export function listOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next: z.string().nullable() });
}

export interface Page {
  limit: number;
  /** Rows are wanted that come after this one in the list; null from its beginning. */
  after: string | null;
}

/** The page that a query asks for. `isKey` says whether a cursor's text can be the key of a row. */
export function readPage(
  query: { limit?: number | undefined; cursor?: string | undefined },
  isKey: (text: string) => boolean,
): Page {
  const limit = Math.min(query.limit ?? defaultLimit, maxLimit);
  if (query.cursor === undefined) return { limit, after: null };
  const after = Buffer.from(query.cursor, 'base64url').toString('utf8');
  if (!isKey(after))
    throw new AppError('validation_failed', {
      errors: { '$.cursor': ['Is not a cursor of this list.'] },
    });
  return { limit, after };
}

/** The answer of a list whose rows were asked for with `limit + 1`: one more row means that there is a next page. */
export function toList<Row, Item>(
  rows: Row[],
  { limit }: Page,
  keyOf: (row: Row) => string,
  describe: (row: Row) => Item,
): { data: Item[]; next: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const next = rows.length > limit && last ? Buffer.from(keyOf(last)).toString('base64url') : null;
  return { data: shown.map(describe), next };
}

const uuidText = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return uuidText.test(value);
}

export function isNsu(value: string): boolean {
  return /^\d{1,18}$/.test(value);
}
