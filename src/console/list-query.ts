// Reads the filters of a page's address by the query schema that the API has for the same list.
import type { z } from 'zod';
import { typedNumber } from './typed-amount.js';
import { typedDay } from './typed-day.js';

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
  const refused = parsed.error.issues.map(({ path }) => String(path[0] ?? ''));
  // A day or an amount as people type it.
  const asRead = (text: string) => {
    const day = typedDay(text);
    return day === text ? String(typedNumber(text) ?? text) : day;
  };
  const typed = refused.filter((name) => asRead(given[name] ?? '') !== (given[name] ?? ''));
  if (typed.length > 0) {
    const changed = new URLSearchParams(given);
    for (const name of typed) changed.set(name, asRead(given[name] ?? ''));
    return readFilters(schema, changed);
  }
  const wrong = new Set(refused);
  const right = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const again = schema.safeParse(right);
  // A rule about several filters at once names none of them.
  const filters = again.success ? again.data : schema.parse({});
  return { filters, wrong: again.success ? [...wrong] : Object.keys(given) };
}
