// Compares the rows that PostgreSQL returns for a `$queryRaw` with the type that the source
// declares for them. A difference rejects the query. It also fails the test file
// (row-types-setup.ts), because the code under test may catch the error.
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { ObjectQuery } from '../../src/platform/postgres/object-query.js';
import { camelCase } from '../../src/platform/postgres/row-names.js';

/** A type: its alternatives, as declared-row-types.mjs describes them. */
type Declared = readonly {
  kind: string;
  /** The strings of a union. Without it every string is admitted. */
  values?: string[];
  element?: Declared;
  properties?: Record<string, Declared>;
}[];

interface DeclaredQuery {
  /** File and line. */
  at: string;
  /** How the statement's text begins, its longest part, and a regular expression of all of it. */
  head: string;
  longest: string;
  pattern: string;
  /** The properties of a row; null where nothing reads rows, or only how many there are. */
  columns: Record<string, Declared> | null;
}

interface Column {
  name: string;
  oid: number;
}

/** What the client makes of a column: the mapping of `@prisma/adapter-pg`. */
const oids: Record<string, number[]> = {
  bigint: [20, 26],
  boolean: [16],
  Date: [1082, 1083, 1114, 1184, 1266],
  Decimal: [790, 1700],
  json: [114, 3802],
  number: [21, 23, 700, 701],
  string: [19, 25, 650, 869, 1042, 1043, 1560, 1562, 2950],
  Uint8Array: [17],
  'bigint[]': [1016, 1028],
  'boolean[]': [1000],
  'Date[]': [1115, 1182, 1183, 1185],
  'Decimal[]': [791, 1231],
  'json[]': [199, 3807],
  'number[]': [1005, 1007, 1021, 1022],
  'string[]': [1009, 1014, 1015, 2951],
};
const kinds = new Map(
  Object.entries(oids).flatMap(([kind, list]) => list.map((oid) => [oid, kind] as const)),
);
/** Types that a migration creates have larger ids. The client reads them as text, arrays too. */
const firstOwnOid = 16_384;

const kindOf = ({ oid }: Column): string =>
  kinds.get(oid) ?? (oid >= firstOwnOid ? 'string' : `type ${oid}`);

/** The differences found in the test file that runs. */
export const violations: string[] = [];

let queries: (DeclaredQuery & { expression: RegExp })[] | undefined;
const declaredByText = new Map<string, DeclaredQuery[]>();

/** The most specific queries whose text fits. Two queries of the same text may differ in type. */
function declaredQueries(text: string): DeclaredQuery[] {
  const known = declaredByText.get(text);
  if (known) return known;
  queries ??= readQueries();
  const fitting = queries.filter(
    ({ head, longest, expression }) =>
      text.startsWith(head) && text.includes(longest) && expression.test(text),
  );
  const length = Math.max(...fitting.map(({ pattern }) => pattern.length));
  const found = fitting.filter(({ pattern }) => pattern.length === length);
  if (declaredByText.size >= 1000) declaredByText.clear();
  declaredByText.set(text, found);
  return found;
}

function readQueries(): (DeclaredQuery & { expression: RegExp })[] {
  const path = join(import.meta.dirname, '../../.prepared/row-types.json');
  const { files } = JSON.parse(readFileSync(path, 'utf8')) as {
    files: Record<string, { queries: DeclaredQuery[] }>;
  };
  return Object.values(files).flatMap(({ queries: ofFile }) =>
    ofFile.map((query) => ({ ...query, expression: RegExp(query.pattern, 's') })),
  );
}

/** Throws where the rows fit none of the types that the source declares for the statement. */
function checkRows(text: string, fields: readonly pg.FieldDef[], rows: unknown[][]): void {
  const columns = fields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID }));
  const declared = declaredQueries(text);
  recordSeen(declared);
  const differences = declared.map((query) => differencesOf(query, columns, rows));
  if (differences.length === 0 || differences.some((found) => found.length === 0)) return;
  const message = `rows without the type that the source declares:\n${differences.flat().join('\n')}`;
  violations.push(message);
  throw new Error(message);
}

const seen = new Set<string>();

/** ROW_TYPES_SEEN names a file that collects the statements that were run. */
function recordSeen(declared: DeclaredQuery[]): void {
  const path = process.env.ROW_TYPES_SEEN;
  for (const { at } of declared) {
    if (path && !seen.has(at)) appendFileSync(path, `${at}\n`);
    seen.add(at);
  }
}

function differencesOf(query: DeclaredQuery, columns: Column[], rows: unknown[][]): string[] {
  if (!query.columns) return [];
  const declared = new Map(Object.entries(query.columns));
  const missing = new Map(declared);
  const found: string[] = [];
  for (const [index, column] of columns.entries()) {
    const name = camelCase(column.name);
    const type = declared.get(name);
    missing.delete(name);
    const difference = type ? differenceOf(type, column, rows, index) : 'is not in the row type';
    if (difference) found.push(`column ${column.name} ${difference}`);
  }
  for (const [name, type] of missing)
    if (!has(type, 'undefined')) found.push(`property ${name} has no column`);
  return found.map((difference) => `${query.at} ${difference}`);
}

function differenceOf(type: Declared, column: Column, rows: unknown[][], index: number) {
  const kind = kindOf(column);
  if (!fitsKind(type, kind)) return `is ${kind}, the row type says ${textOf(type)}`;
  const wrong = rows.find((row) => !fits(type, kind, row[index]));
  if (!wrong) return undefined;
  return `has ${String(wrong[index]).slice(0, 200)}, the row type says ${textOf(type)}`;
}

const has = (type: Declared, ...list: string[]): boolean =>
  type.some(({ kind }) => list.includes(kind));

function fitsKind(type: Declared, kind: string): boolean {
  if (has(type, kind, 'any')) return true;
  if (kind.endsWith('[]'))
    return type.some(({ element }) => element && fitsKind(element, kind.slice(0, -2)));
  return kind === 'json' && has(type, 'object', 'array', 'string', 'number', 'boolean');
}

/** Whether a value of a column fits. The driver returns JSON as text. */
function fits(type: Declared, kind: string, value: unknown): boolean {
  if (has(type, 'any')) return true;
  if (value === null) return has(type, 'null');
  if (kind === 'json') return fitsJson(type, JSON.parse(value as string));
  if (kind === 'string') return fitsJson(type, value);
  if (!kind.endsWith('[]')) return true;
  const elementKind = kind.slice(0, -2);
  return type.some(
    ({ element }) =>
      element && (value as unknown[]).every((one) => fits(element, elementKind, one)),
  );
}

function fitsJson(type: Declared, value: unknown): boolean {
  return type.some(({ kind, values, element, properties }) => {
    if (kind === 'any') return true;
    if (value === null) return kind === 'null';
    if (Array.isArray(value)) return element && value.every((one) => fitsJson(element, one));
    if (typeof value !== 'object')
      return kind === typeof value && (!values || values.includes(value as string));
    if (!properties) return false;
    const given = value as Record<string, unknown>;
    return Object.entries(properties).every(([name, property]) =>
      name in given ? fitsJson(property, given[name]) : has(property, 'undefined'),
    );
  });
}

function textOf(type: Declared): string {
  const texts = type.map(({ kind, values, element, properties }) => {
    if (values) return values.map((value) => `'${value}'`).join(' | ');
    if (element) return `(${textOf(element)})[]`;
    if (!properties) return kind;
    const members = Object.entries(properties).map(([name, one]) => `${name}: ${textOf(one)}`);
    return `{ ${members.join('; ')} }`;
  });
  return texts.join(' | ');
}

/** `@prisma/adapter-pg` reads rows as arrays, and is the only code that does. */
function watch(prototype: { query: unknown }): void {
  const query = prototype.query as (...given: unknown[]) => unknown;
  prototype.query = function (this: unknown, ...given: unknown[]) {
    const statement = given[0] as { rowMode?: string; text: string } | undefined;
    if (statement instanceof ObjectQuery)
      return query.apply(
        this,
        given.map((one) => (isAnswer(one) ? checked(statement, one) : one)),
      );
    const result = query.apply(this, given);
    if (statement?.rowMode !== 'array' || !(result instanceof Promise)) return result;
    return result.then((answer: pg.QueryArrayResult<unknown[]>) => {
      checkRows(statement.text, answer.fields, answer.rows);
      return answer;
    });
  };
}

type Answer = (error: unknown, result?: unknown) => void;
const isAnswer = (given: unknown): given is Answer => typeof given === 'function';

/** A pool, too, passes the query and what is to be called with the answer to a client. */
const checked =
  (query: ObjectQuery, answer: Answer): Answer =>
  (error, result) => {
    if (error) return answer(error);
    const { columns, objects } = query;
    try {
      checkRows(
        (query as unknown as { text: string }).text,
        columns,
        objects.map(valuesOf(columns)),
      );
    } catch (difference) {
      return answer(difference);
    }
    answer(null, result);
  };

/** In the order of the columns, with JSON as text. */
const valuesOf = (columns: readonly pg.FieldDef[]) => (row: object) =>
  columns.map(({ name, dataTypeID }) => {
    const value = (row as Record<string, unknown>)[camelCase(name)];
    return kinds.get(dataTypeID) === 'json' && value !== null ? JSON.stringify(value) : value;
  });

watch(pg.Pool.prototype);
watch(pg.Client.prototype);
