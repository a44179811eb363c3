// Writes `src/generated` from the API reference: the types, by @hey-api/openapi-ts; a class for
// each chapter, with a method for each operation; and where amounts stand in each body.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';

const reference = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'openapi.json');
const target = join(import.meta.dirname, 'src', 'generated');
const successes = ['200', '201', '202'];

/** What the generated code and its tests know of each operation, in the order of the reference. */
export function describeOperations(document) {
  const { paths } = document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId: id, tags, parameters = [], requestBody, responses } = operation;
      const statuses = successes.filter((status) => responses[status]);
      const types = Object.keys(resolve(document, responses[statuses[0]]).content);
      // A file has the format that the query names: bytes.
      const type = types.length > 1 && types[0] !== 'application/json' ? '*/*' : types[0];
      const named = (place) => parameters.filter((one) => one.in === place);
      return {
        ...{ id, path, method: method.toUpperCase(), summary: operation.summary, type },
        resource: camelCase(tags[0]),
        name: methodName(id, tags[0]),
        caller: Object.keys(operation.security[0])[0],
        params: named('path').map(({ name }) => name),
        query: named('query'),
        headers: named('header').map(({ name }) => name),
        body: requestBody,
        // Of all schemas that a successful response may have.
        responses: statuses.map((status) => bodySchema(resolve(document, responses[status]))),
      };
    }),
  );
}

function camelCase(words) {
  const joined = words.replace(/\W+(\w)/g, (_, first) => first.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}

/** `createCharge` of `Charges` is `create`, `listCharges` is `list`, `getTedAtBank` stays. */
function methodName(id, chapter) {
  const plural = camelCase(`the ${chapter}`).replace(/^the/, '');
  const noun = id.startsWith('list') ? plural : plural.replace(/s$/, '');
  return id.replace(new RegExp(`${noun}(?![a-z])`), '');
}

function resolve(document, { $ref, ...own }) {
  if ($ref === undefined) return own;
  return $ref
    .slice(2)
    .split('/')
    .reduce((part, key) => part[key], document);
}

const bodySchema = ({ content }) => content['application/json']?.schema ?? {};

/**
 * Where a body has numbers that are no floats: 1 is an amount, 2 an id that is a number or a text,
 * 3 an integer that a float may not hold; 0 is any other integer. Elements of an array and of a map
 * (`*`) have the place of the whole.
 */
function placesOf(document, schema, seen = []) {
  if (schema.$ref) {
    if (seen.includes(schema.$ref)) throw new Error(`${schema.$ref} contains itself`);
    return placesOf(document, resolve(document, schema), [...seen, schema.$ref]);
  }
  const types = [schema.type].flat();
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => schema[key] ?? []);
  const places = parts.map((part) => placesOf(document, part, seen));
  const isText =
    types.includes('string') || parts.some((part) => [part.type].flat().includes('string'));
  if (types.includes('number')) places.push(1);
  if (types.includes('integer')) places.push(schema.format === 'int64' ? 3 : 0);
  if (schema.items) places.push(placesOf(document, schema.items, seen));
  const fields = Object.entries(schema.properties ?? {}).map(([name, one]) => [
    ...[name, placesOf(document, one, seen)],
  ]);
  if (Object.keys(schema.additionalProperties ?? {}).length > 0)
    fields.push(['*', placesOf(document, schema.additionalProperties, seen)]);
  places.push(Object.fromEntries(fields.filter(([, place]) => place !== undefined)));
  const merged = places.reduce(merge, undefined);
  return isText && merged === 1 ? 2 : merged;
}

function merge(one, other) {
  const isEmpty = (place) => place === undefined || JSON.stringify(place) === '{}';
  if (isEmpty(one)) return isEmpty(other) ? undefined : other;
  if (isEmpty(other) || one === other) return one;
  if (typeof one === 'number' && typeof other === 'number' && one * other === 2) return 2;
  if (typeof one === 'number' || typeof other === 'number')
    throw new Error(`one field is ${JSON.stringify(one)} and ${JSON.stringify(other)}`);
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, merge(one[name], other[name])]));
}

/** Without integers: they are read as any number. */
function withoutIntegers(place) {
  if (typeof place !== 'object') return place === 0 ? undefined : place;
  const kept = Object.entries(place).map(([name, one]) => [name, withoutIntegers(one)]);
  const wanted = kept.filter(([, one]) => one !== undefined);
  return wanted.length > 0 ? Object.fromEntries(wanted) : undefined;
}

/** The names of equal places, and their declarations. */
class Places {
  declared = new Map();

  constructor(document) {
    this.document = document;
  }

  of(...schemas) {
    const all = schemas.map((schema) => placesOf(this.document, schema));
    const text = JSON.stringify(withoutIntegers(all.reduce(merge, undefined)));
    if (text === undefined) return undefined;
    if (!this.declared.has(text)) this.declared.set(text, `p${this.declared.size}`);
    return this.declared.get(text);
  }

  get text() {
    return [...this.declared].map(([text, name]) => `const ${name}: Place = ${text};\n`).join('');
  }
}

function methodOf(operation, places) {
  const { id, path, method, name, params, query, body, headers, responses, type } = operation;
  const types = `t.${id.charAt(0).toUpperCase()}${id.slice(1)}`;
  const isFile = body !== undefined && !body.content['application/json'];
  const isList = query.some((one) => one.name === 'cursor');
  const isOptional = !query.some(({ required }) => required);
  const options = headers.includes('Prefer')
    ? 'OperationOptions'
    : headers.includes('IdempotencyKey')
      ? 'ChangeOptions'
      : 'RequestOptions';
  const signature = [
    ...params.map((one) => `${one}: string | number`),
    ...(isFile ? ['body: File'] : []),
    ...(body && !isFile ? [`body${body.required ? '' : '?'}: ${types}Data['body']`] : []),
    ...(query.length > 0 ? [`query${isOptional ? '?' : ''}: ${types}Data['query']`] : []),
    `options?: ${options}`,
  ];
  const reads = type === 'application/json' ? places.of(...responses) : undefined;
  const writes = body && !isFile ? places.of(bodySchema(body)) : undefined;
  const declared = [
    ...[`id: '${id}'`, `method: '${method}'`, `caller: '${operation.caller}'`],
    ...(headers.includes('IdempotencyKey') ? ['isKeyed: true'] : []),
    ...(isFile ? ['isUpload: true'] : []),
    ...(type === 'application/json' ? [] : [`accepts: '${type}'`]),
    ...(reads ? [`reads: ${reads}`] : []),
    ...(writes ? [`writes: ${writes}`] : []),
  ];
  const url = path.replace(/\{(\w+)\}/g, (_, param) => `\${segment(${param})}`);
  const given = [...(body ? ['body'] : []), ...(query.length > 0 ? ['query'] : []), 'options'];
  const call = `{ ${declared.join(', ')} }, \`${url}\`, { ${given.join(', ')} }`;
  const all = `${types}Responses[keyof ${types}Responses]`;
  const result = type === 'application/json' ? all : resultOf(type);
  const [returned, calls] = isList
    ? [`List<${result}>`, `list<${result}>`]
    : [`Promise<${result}>`, `request<${result}>`];
  return (
    `  /** ${operation.summary}. */\n` +
    `  ${name}(${signature.join(', ')}): ${returned} {\n` +
    `    return this.transport.${calls}(${call});\n  }\n`
  );
}

const resultOf = (type) => (type.startsWith('text/') ? 'string' : 'Uint8Array');

/** The classes of the chapters, and the class that has them all. */
function resourcesText(document) {
  const operations = describeOperations(document);
  const places = new Places(document);
  const resources = [...new Set(operations.map(({ resource }) => resource))];
  const className = (resource) => resource.charAt(0).toUpperCase() + resource.slice(1);
  const classes = resources.map((resource) => {
    const own = operations.filter((one) => one.resource === resource);
    if (new Set(own.map(({ name }) => name)).size < own.length)
      throw new Error(`two operations of ${resource} have one name`);
    const methods = own.map((operation) => methodOf(operation, places)).join('\n');
    return `export class ${className(resource)} {\n${constructorText}\n${methods}}\n`;
  });
  const events = Object.entries(document.webhooks).map(([type, { post }]) => {
    const schema = bodySchema(post.requestBody);
    return { type, schema, name: `t.${schema.$ref.split('/').at(-1)}` };
  });
  const ofEvents = places.of(...events.map(({ schema }) => schema));
  const all = resources.map((one) => `  readonly ${one}: ${className(one)};\n`).join('');
  const made = resources.map((one) => `    this.${one} = new ${className(one)}(transport);\n`);
  return [
    '// Written by generate.mjs from the API reference.\n' +
      "import type { Place } from '../exact-json.js';\n" +
      "import type { ChangeOptions, File, OperationOptions, RequestOptions } from '../options.js';\n" +
      "import type { List } from '../list.js';\n" +
      "import { segment, type Transport } from '../transport.js';\n" +
      "import type * as t from './types.gen.js';\n",
    places.text,
    `export const eventPlaces: Place = ${ofEvents};\n`,
    `export type KnownEvent = ${events.map(({ name }) => name).join(' | ')};\n`,
    ...classes,
    `export abstract class Resources {\n${all}\n` +
      `  constructor(transport: Transport) {\n${made.join('')}  }\n}\n`,
  ].join('\n');
}

const constructorText = '  constructor(private readonly transport: Transport) {}\n';

/** The reference as the client's types say it: numbers that are no floats are texts. */
function typedDocument(document) {
  const copy = structuredClone(document);
  for (const operation of Object.values(copy.paths).flatMap((one) => Object.values(one))) {
    for (const status of Object.keys(operation.responses))
      // errors are thrown
      if (!successes.includes(status)) delete operation.responses[status];
    // others are arguments and options of the methods
    operation.parameters = operation.parameters?.filter((one) => one.in === 'query');
  }
  copy.webhooks = {};
  return withTexts(copy);
}

function withTexts(value) {
  if (Array.isArray(value)) return value.map(withTexts);
  if (typeof value !== 'object' || value === null) return value;
  const { type, format, minimum: _, exclusiveMinimum: __, ...others } = value;
  const types = [type].flat();
  const isText = types.includes('number') || (types.includes('integer') && format === 'int64');
  if (isText) return { ...others, type: types.includes('null') ? ['string', 'null'] : 'string' };
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withTexts(one)]));
}

export async function generate() {
  const document = JSON.parse(readFileSync(reference, 'utf8'));
  rmSync(target, { recursive: true, force: true });
  await createClient({
    ...{ input: typedDocument(document), output: { path: target, entryFile: false } },
    ...{ plugins: ['@hey-api/typescript'], logs: { level: 'silent', file: false } },
  });
  const types = join(target, 'types.gen.ts');
  // Without a second name for what each operation returns: a 2 where a schema has the name.
  const again = /\nexport type \w+ = (\w+Responses)\[keyof \1\];\n/g;
  writeFileSync(types, readFileSync(types, 'utf8').replace(again, ''));
  writeFileSync(join(target, 'resources.ts'), resourcesText(document));
}

await generate();
