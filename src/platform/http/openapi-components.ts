// What the API reference states once for many routes: schemas, responses and headers. Every
// generator of clients reads it, so that every engine compiles its patterns.
import { z } from 'zod';
import { referenceFormOf } from '../../bank-contract/wire.js';
import { invariant } from '../errors.js';

type JsonSchema = z.core.JSONSchema.BaseSchema & { [key: string]: unknown };

/** Look-around, Unicode properties, and escapes that other engines than that of JavaScript lack. */
const isOnlyOurs = /\(\?[=!<]|\\[pPu0]/;

export class OpenApiComponents {
  readonly schemas: Record<string, object> = {};
  readonly responses: Record<string, object> = {};
  readonly headers: Record<string, object> = {};

  /** The schema as a reference, where it has parts, under its own name or this one. */
  schema(schema: z.ZodType, name: string): object {
    const own = this.inlineSchema(schema) as JsonSchema;
    if (own.$ref !== undefined || (own.type !== 'object' && own.type !== 'array')) return own;
    this.store(name, own);
    return { $ref: `${schemasPath}${name}` };
  }

  /** The schema itself; what it contains may be references. */
  inlineSchema(schema: z.ZodType): object {
    const {
      $schema: _,
      $defs = {},
      ...own
    } = z.toJSONSchema(schema, {
      ...{ io: 'input', target: 'draft-2020-12', unrepresentable: 'any', reused: 'inline' },
      override: ({ zodSchema, jsonSchema }) => {
        const form = referenceFormOf(zodSchema);
        if (form) replace(jsonSchema, this.inlineSchema(form));
        else adapt(jsonSchema as JsonSchema);
      },
    }) as JsonSchema;
    for (const [name, of] of Object.entries($defs)) this.store(name, referring(of) as object);
    return referring(own) as object;
  }

  /** The first response of a status stands for all that are the same. */
  response(status: number | string, response: object): object {
    return shared(this.responses, `Status${status}`, response, '#/components/responses/');
  }

  header(name: string, header: object): object {
    return shared(this.headers, name, header, '#/components/headers/');
  }

  private store(name: string, schema: object): void {
    const { $ref } = shared(this.schemas, name, schema, schemasPath) as { $ref?: string };
    invariant($ref, `the name ${name} is of one schema of the API reference`);
  }
}

const schemasPath = '#/components/schemas/';

function shared(all: Record<string, object>, name: string, one: object, path: string): object {
  all[name] ??= one;
  return JSON.stringify(all[name]) === JSON.stringify(one) ? { $ref: `${path}${name}` } : one;
}

/** Where zod refers to the definitions beside a schema, the document refers to its components. */
function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, of]) => [
      key,
      key === '$ref' && typeof of === 'string'
        ? of.replace('#/$defs/', schemasPath)
        : referring(of),
    ]),
  );
}

function replace(one: object, other: object): void {
  for (const key of Object.keys(one)) delete (one as JsonSchema)[key];
  Object.assign(one, other);
}

function adapt(schema: JsonSchema): void {
  const patterns = [schema.pattern, ...(schema.allOf ?? []).map(patternOf)];
  if (patterns.some((one) => one !== undefined)) withPatterns(schema, patterns);
  for (const [name, of] of Object.entries(schema.properties ?? {}))
    if (typeof of === 'object' && of.not !== undefined) delete schema.properties![name];
  // A query has texts; what they say are numbers and the like.
  if (schema.type !== 'string') for (const key of ofTexts) delete schema[key];
  // A schema that narrows a named one says all that the other does.
  if (schema.$ref !== undefined && schema.type !== undefined) delete schema.$ref;
  // Every name is text.
  delete schema.propertyNames;
  // What a validator that knows the name checks anyway.
  if (schema.format === 'uuid') delete schema.pattern;
}

const ofTexts = ['maxLength', 'minLength', 'pattern'];

function patternOf(schema: unknown): string | undefined {
  return (schema as JsonSchema | undefined)?.pattern;
}

function withPatterns(schema: JsonSchema, patterns: (string | undefined)[]): void {
  const others = (schema.allOf ?? []).filter((one) => patternOf(one) === undefined);
  const portable = patterns.filter((one) => one !== undefined && !isOnlyOurs.test(one)) as string[];
  delete schema.pattern;
  delete schema.allOf;
  if (portable.length === 1) schema.pattern = portable[0]!;
  const rest = portable.length > 1 ? portable.map((pattern) => ({ pattern })) : [];
  if (rest.length + others.length > 0) schema.allOf = [...others, ...rest] as never;
}
