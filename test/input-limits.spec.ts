// Every text, list and map that a caller sends has a maximum, and so has every body. The routes are
// those that the sources declare, of the service and of the sandbox bank.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Route } from '../src/bank-contract/route.js';
import { requestJson } from '../src/platform/json/exact-json.js';

interface JsonSchema {
  type?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  maxLength?: number;
  maxItems?: number;
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  maxProperties?: number;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
}

/** The paths of a schema at which a caller may send any amount of text, items or fields. */
function unlimitedPaths(schema: z.ZodType): string[] {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' });
  return unlimitedIn(json as JsonSchema, '$');
}

function unlimitedIn(schema: JsonSchema, path: string): string[] {
  const { type, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema;
  const isListed = schema.enum !== undefined || schema.const !== undefined;
  const isLimited = {
    string: isListed || schema.format === 'uuid' || schema.maxLength !== undefined,
    array: schema.maxItems !== undefined && schema.maxItems <= requestJson.maxEntries,
    object:
      schema.propertyNames === undefined ||
      schema.propertyNames.enum !== undefined ||
      schema.maxProperties !== undefined,
  }[type ?? ''];
  return [
    ...(isLimited === false ? [path] : []),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((part) => unlimitedIn(part, path)),
    ...Object.entries(properties).flatMap(([name, part]) => unlimitedIn(part, `${path}.${name}`)),
    ...(items ? unlimitedIn(items, `${path}[]`) : []),
  ];
}

const source = join(import.meta.dirname, '../src');

function isRoute(value: unknown): value is Route {
  return typeof value === 'object' && value !== null && 'maxBodyBytes' in value && 'path' in value;
}

async function declaredRoutes(): Promise<Route[]> {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
    .map((file) => join(source, file))
    .filter((file) => readFileSync(file, 'utf8').includes(' = route({'));
  const routes: Route[] = [];
  for (const file of files)
    routes.push(...Object.values((await import(file)) as object).filter(isRoute));
  return routes;
}

describe('the input of every route', () => {
  let routes: Route[];

  beforeAll(async () => {
    routes = await declaredRoutes();
    expect(routes.length).toBeGreaterThan(90);
  });

  it.each(['params', 'query', 'body'] as const)('has maxima in its %s', (part) => {
    const unlimited = routes.flatMap((route) =>
      unlimitedPaths(route[part]).map((path) => `${route.name} ${part} ${path}`),
    );
    expect(unlimited).toEqual([]);
  });

  it('has a body that is read in a fraction of 100 ms, or piece by piece', () => {
    const large = routes.filter(
      ({ maxBodyBytes, hasFileBody }) => !hasFileBody && !(maxBodyBytes <= 262_144),
    );
    expect(large.map(({ name }) => name)).toEqual([]);
  });
});

it('reports what has no maximum', () => {
  const text = z.string().max(5);
  const schema = z.looseObject({
    text: z.string(),
    pattern: z.string().regex(/^a+$/),
    choice: z.enum(['a', 'b']),
    id: z.uuid(),
    texts: z.array(z.string()).max(5).nullish(),
    manyTexts: z.array(text).max(1_001),
    list: z.array(text),
    map: z.record(text, text),
    either: z.union([text, z.object({ text: z.string() })]),
  });
  expect(unlimitedPaths(schema)).toEqual(
    ['text', 'pattern', 'texts[]', 'manyTexts', 'list', 'map', 'either.text'].map((path) =>
      expect.stringContaining(path),
    ),
  );
});
