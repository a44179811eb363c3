// Reads the filters of a page's address by the query schema that the API has for the same list.
import type { z } from 'zod';

/** Wrong filters are left out, and named, so that a page opens with whatever its address holds. */
export interface ReadFilters<Query> {
  filters: Query;
  wrong: string[];
}

/** Empty fields count as absent. */
export function readFilters<Schema extends z.ZodType>(
  schema: Schema,
  query: URLSearchParams,
): ReadFilters<z.output<Schema>> {
  const given = Object.fromEntries([...query].filter(([, value]) => value.trim() !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return { filters: parsed.data, wrong: [] };
  const wrong = new Set(parsed.error.issues.map(({ path }) => String(path[0] ?? '')));
  const right = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const again = schema.safeParse(right);
  // A rule about several filters at once names none of them.
  const filters = again.success ? again.data : schema.parse({});
  return { filters, wrong: again.success ? [...wrong] : Object.keys(given) };
}
