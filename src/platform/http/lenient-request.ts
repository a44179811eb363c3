// Requests as clients of the bank write them where the contract is silent, in the contract's own
// form: an empty text for a field that is left out, a name or a listed value in another letter
// case, a date-time whose date is meant.
import { z } from 'zod';
import { isJsonObject } from '../json/exact-json.js';
import { withoutCase } from '../../bank-contract/wire.js';

/** How a request differs from the contract's form. */
export const departures = ['emptyText', 'nameCase', 'valueCase', 'dateTime'] as const;
export type Departure = (typeof departures)[number];

/** The request in the contract's form, and how it differs from that. */
export function readLeniently(
  schema: z.ZodType,
  request: unknown,
): { request: unknown; departures: ReadonlySet<Departure> } {
  const found = new Set<Departure>();
  return { request: inForm(schema, request, found), departures: found };
}

function inForm(schema: z.ZodType, value: unknown, found: Set<Departure>): unknown {
  const declared = unwrap(schema);
  if (typeof value === 'string') return textInForm(declared, value, found);
  if (Array.isArray(value) && declared instanceof z.ZodArray)
    return value.map((item) => inForm(declared.element as z.ZodType, item, found));
  if (!isJsonObject(value) || !(declared instanceof z.ZodObject)) return value;
  const shape = declared.shape as Record<string, z.ZodType>;
  const names = new Map(Object.keys(shape).map((name) => [withoutCase(name), name]));
  const given = Object.keys(value).map(withoutCase);
  const fields: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    // Two names that differ in letter case alone may have two values: the schema refuses them.
    const isOnly = given.filter((one) => one === withoutCase(name)).length === 1;
    const meant = (isOnly ? names.get(withoutCase(name)) : undefined) ?? name;
    if (meant !== name) found.add('nameCase');
    const ofField = shape[meant];
    if (field === '' && ofField && z.safeDecode(ofField, undefined as never).success)
      found.add('emptyText');
    else fields.push([meant, ofField ? inForm(ofField, field, found) : field]);
  }
  return Object.fromEntries(fields);
}

function textInForm(schema: z.ZodType, value: string, found: Set<Departure>): string {
  if (schema instanceof z.ZodEnum) {
    const meant = schema.options.find((one) => withoutCase(String(one)) === withoutCase(value));
    if (meant === undefined || meant === value) return value;
    found.add('valueCase');
    return String(meant);
  }
  if (schema.meta()?.format !== 'date' || !dateTimeText.test(value)) return value;
  found.add('dateTime');
  return value.slice(0, 10);
}

const dateTimeText = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/;

function unwrap(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? unwrap(schema.unwrap() as z.ZodType) : schema;
}
