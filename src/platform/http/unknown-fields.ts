// Finds the fields of a request that its schema does not know. A misspelt filter would list
// everything, and a misspelt field of a request would be left out without a word.
import { z } from 'zod';

export interface UnknownField {
  path: PropertyKey[];
  /** The fields that are known in its place. */
  known: readonly string[];
}

/** Objects whose schema takes any field have none that is unknown. */
export function findUnknownFields(
  schema: z.core.$ZodType,
  value: unknown,
  path: PropertyKey[] = [],
): UnknownField[] {
  if (typeof value !== 'object' || value === null) return [];
  const within = (inner: z.core.$ZodType) => findUnknownFields(inner, value, path);
  if (schema instanceof z.ZodObject) return ofObject(schema, value, path);
  if (schema instanceof z.ZodArray)
    return Array.isArray(value)
      ? value.flatMap((item, at) => findUnknownFields(schema.element, item, [...path, at]))
      : [];
  if (schema instanceof z.ZodUnion) {
    const taken = schema.options.filter((option) => z.safeDecode(option, value as never).success);
    const [first, ...others] = (taken.length > 0 ? taken : likely(schema, value)).map(within);
    return others.reduce((least, one) => (one.length < least.length ? one : least), first ?? []);
  }
  if (schema instanceof z.ZodPipe) return within(schema.in);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  )
    return within(schema.unwrap());
  return [];
}

function ofObject(
  { shape, def: { catchall } }: z.ZodObject,
  value: object,
  path: PropertyKey[],
): UnknownField[] {
  const known = Object.keys(shape);
  return Object.entries(value).flatMap(([name, field]) => {
    const inner = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (inner) return findUnknownFields(inner, field, [...path, name]);
    const takesAny = catchall !== undefined && !(catchall instanceof z.ZodNever);
    return takesAny ? [] : [{ path: [...path, name], known }];
  });
}

/** The forms of a request whose name says that they are meant. */
function likely(schema: z.ZodUnion, value: object): z.core.$ZodType[] {
  if (!(schema instanceof z.ZodDiscriminatedUnion)) return [];
  const name = schema.def.discriminator;
  return (schema.options as z.core.$ZodType[]).filter((option) => {
    const named = option instanceof z.ZodObject ? option.shape[name] : undefined;
    return named && z.safeDecode(named, (value as Record<string, unknown>)[name] as never).success;
  });
}
