// Writes responses part by part, so that a long list delays no other request for long.
import { z } from 'zod';
import { stringifyJson } from '../json/exact-json.js';
import { pausesBetweenSlices } from '../slots.js';

type Pause = ReturnType<typeof pausesBetweenSlices>;

/**
 * The JSON of a response: the text of `stringifyJson(z.encode(schema, value))`. The items of an
 * object's array are encoded one by one, with pauses; they may be any iterable.
 */
export async function writeResponse(schema: z.ZodType, value: unknown): Promise<string> {
  return write(schema, value, pausesBetweenSlices());
}

async function write(schema: z.ZodType, value: unknown, pause: Pause): Promise<string> {
  await pause();
  const arrays = arraysOf(schema);
  if (arrays.size === 0) return stringifyJson(z.encode(schema, value));
  const given = value as Record<string, unknown>;
  const empty = Object.fromEntries([...arrays.keys()].map((name) => [name, []]));
  const encoded = Object.entries(z.encode(schema, { ...given, ...empty }) as object);
  const fields: string[] = [];
  for (const [name, field] of encoded as [string, unknown][]) {
    if (field === undefined) continue;
    const item = arrays.get(name);
    const text = item ? await writeItems(item, given[name], pause) : stringifyJson(field);
    fields.push(`${stringifyJson(name)}:${text}`);
  }
  return `{${fields.join(',')}}`;
}

async function writeItems(schema: z.ZodType, items: unknown, pause: Pause): Promise<string> {
  const texts: string[] = [];
  for (const item of items as Iterable<unknown>) texts.push(await write(schema, item, pause));
  return `[${texts.join(',')}]`;
}

/** The fields of an object's schema that are arrays, each with the schema of its items. */
function arraysOf(schema: z.ZodType): Map<string, z.ZodType> {
  const arrays = new Map<string, z.ZodType>();
  // A check needs the whole value.
  if (!(schema instanceof z.ZodObject) || hasChecks(schema)) return arrays;
  for (const [name, field] of Object.entries(schema.shape))
    if (field instanceof z.ZodArray && !hasChecks(field))
      arrays.set(name, field.element as z.ZodType);
  return arrays;
}

const hasChecks = ({ def }: z.ZodType): boolean => (def.checks ?? []).length > 0;
