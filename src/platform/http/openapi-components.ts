// What the API reference states once for many routes: schemas, responses and headers. Every
// generator of clients reads it, so that every engine compiles its patterns.
import { z } from 'zod';
import { referenceFormOf } from '../../bank-contract/wire.js';
import { invariant } from '../errors.js';
import { fieldDescriptions } from './field-descriptions.js';

type JsonSchema = z.core.JSONSchema.BaseSchema & { [key: string]: unknown };

/** Look-around, Unicode properties, and escapes that other engines than that of JavaScript lack. */
const isOnlyOurs = /\(\?[=!<]|\\[pPu0]/;

/** What tests sent and were answered: bodies by content type, errors by their code. */
export interface RecordedExamples {
  operations: Record<string, { [Part in BodyPart]?: Record<string, unknown> }>;
  errors: Record<string, { status: number }>;
}

type BodyPart = 'request' | 'response';

export class OpenApiComponents {
  readonly schemas: Record<string, object> = {};
  readonly responses: Record<string, object> = {};
  readonly headers: Record<string, object> = {};
  readonly examples: Record<string, { value: { status: number } }>;
  readonly #operations: RecordedExamples['operations'];

  constructor({ operations, errors }: RecordedExamples) {
    this.#operations = operations;
    this.examples = Object.fromEntries(
      Object.entries(errors).map(([code, value]) => [code, { value }]),
    );
  }

  example(operationId: string, part: BodyPart, type: string): { example?: unknown } {
    const example = this.#operations[operationId]?.[part]?.[type];
    return example === undefined ? {} : { example };
  }

  /** Of each code with the status. */
  errorExamples(status: number): object {
    const ofStatus = Object.entries(this.examples).filter(([, one]) => one.value.status === status);
    return Object.fromEntries(
      ofStatus.map(([code]) => [code, { $ref: `#/components/examples/${code}` }]),
    );
  }

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
        const { description } = jsonSchema;
        if (form)
          replace(jsonSchema, {
            ...this.inlineSchema(form),
            ...(description ? { description } : {}),
          });
        else adapt(jsonSchema as JsonSchema);
      },
    }) as JsonSchema;
    for (const [name, of] of Object.entries($defs)) this.store(name, referring(of) as object);
    return referring(own) as object;
  }

  /** The errors of a status that are the same stand once; a success has examples of its own. */
  response(status: number | 'Other', response: object): object {
    if (Number(status) < 300) return response;
    const path = '#/components/responses/';
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? `Status${status}` : `Status${status}-${count}`;
      const one = shared(this.responses, name, response, path);
      if (one !== response) return one;
    }
  }

  header(name: string, header: object): object {
    return shared(this.headers, name, header, '#/components/headers/');
  }

  private store(name: string, schema: object): void {
    const of = withDescriptions(schema) as object;
    const { $ref } = shared(this.schemas, name, of, schemasPath) as { $ref?: string };
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

/** With what fields are whose schemas do not say it. */
function withDescriptions(value: unknown, field?: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withDescriptions(one));
  if (value === null || typeof value !== 'object') return value;
  const description = field && fieldDescriptions[field];
  const entries = Object.entries(value).map(([key, of]) => [
    key,
    key !== 'properties'
      ? withDescriptions(of)
      : Object.fromEntries(
          Object.entries(of as object).map(([name, one]) => [name, withDescriptions(one, name)]),
        ),
  ]);
  return { ...(description ? { description } : {}), ...Object.fromEntries(entries) };
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
