// The examples of the API references: what tests sent, and what they were answered.
// `RECORD_EXAMPLES=1` adds those that are missing, and replaces those that another with more fields
// is better than; none is replaced by its like, so that recording again changes little.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedExamples } from '../../src/platform/http/openapi-components.js';
import type { Application, Exchange } from './reference-check.js';

const root = join(import.meta.dirname, '../..');
export const exampleFiles: Record<Application, string> = {
  service: join(root, 'src/app/api-examples.json'),
  sandbox: join(root, 'src/sandbox/api-examples.json'),
};

const maxItems = 2;
const maxWords = 4;
const maxBytes = 3000;
const maxFile = 1200;
const maxText = 300;
const cutTextAt = 60;

export function readExamples(application: Application): RecordedExamples {
  return JSON.parse(readFileSync(exampleFiles[application], 'utf8')) as RecordedExamples;
}

export function recordExample(
  application: Application,
  name: string,
  { sent, sentType: declaredType = 'application/json', status, headers, text }: Exchange,
): void {
  const sentType = isJson(declaredType) ? 'application/json' : declaredType;
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  if (isJson(type) && hostile.test(`${sent} ${text}`)) return;
  const response = example(type, text);
  const examples = readExamples(application);
  const isKept =
    status < 300
      ? keepExchange(examples.operations, name, {
          ...(sent === undefined ? {} : { request: { [sentType]: example(sentType, sent) } }),
          response: { [type]: response },
        })
      : type === 'application/problem+json' &&
        keep(examples.errors, codeOf(response as { code?: string }, status), response as never);
  if (isKept) writeWhole(exampleFiles[application], written(cleaned(examples) as typeof examples));
}

interface Rows {
  query(sql: string): Promise<{ rows: { name: string; event: object }[] }>;
}

/** With `RECORD_EXAMPLES=1`: one of each type of event that a test has stored. */
export async function recordEvents(database: Rows): Promise<void> {
  if (process.env['RECORD_EXAMPLES'] !== '1') return;
  const { rows } = await database.query(
    `SELECT 'receive' || replace(initcap(replace(type, '_', '.')), '.', '') AS name,
            json_build_object(
              'type', type, 'apiVersion', api_version, 'timestamp', to_char(
                created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'resource', json_build_object('kind', resource_kind, 'id', resource_id),
              'sequence', sequence, 'data', data::json) AS event
     FROM event ORDER BY created_at LIMIT 1000`,
  );
  const type = 'application/json';
  const { operations, errors } = readExamples('service');
  for (const { name, event } of rows) {
    const sent = JSON.stringify(event);
    if (!hostile.test(sent)) keep(operations, name, { request: { [type]: example(type, sent) } });
  }
  writeWhole(exampleFiles.service, written({ operations, errors }));
}

/** Each content type has its own example. */
function keepExchange(all: Operations, name: string, one: Operations[string]): boolean {
  const known = all[name];
  if (!known) return keep(all, name, one);
  const both = {
    ...(one.request ? { request: { ...one.request, ...known.request } } : {}),
    response: { ...one.response, ...known.response },
  };
  if (typesOf(both) > typesOf(known)) all[name] = both;
  else return typesOf(both) === typesOf(one) && keep(all, name, one);
  return true;
}

type Operations = RecordedExamples['operations'];
const typesOf = ({ request = {}, response = {} }: Operations[string]) =>
  Object.keys(request).length + Object.keys(response).length;

/** Other workers read it. */
function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}

const codeOf = ({ code }: { code?: string }, status: number) => code ?? `status${status}`;

/** Whether it is better than what was there. */
function keep<Kept>(all: Record<string, Kept>, name: string, one: Kept): boolean {
  const known = all[name];
  if (known !== undefined && worth(one) <= worth(known)) return false;
  all[name] = one;
  return true;
}

/** What only a test sends. */
const hostile = /canary|unknownField|<\w|\\u00/;

/** How many fields it has, each once in a list; what is too long is worth less, however short. */
function worth(one: unknown): number {
  const { length } = JSON.stringify(one);
  return length > maxBytes ? -length : fieldsOf(one).size;
}

function fieldsOf(value: unknown, path = '', found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const one of value) fieldsOf(one, `${path}[]`, found);
  else if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value)) fieldsOf(one, `${path}.${key}`, found);
  else if (value !== null && value !== '') found.add(path);
  return found;
}

const isJson = (type: string) => /[/+]json$/.test(type);

function example(type: string, text: string): unknown {
  if (isJson(type)) return cleaned(JSON.parse(text));
  const lines = text.split('\n');
  while (lines.length > 2 && lines.join('\n').length > maxFile) lines.pop();
  return lines.join('\n');
}

/** With lists and long texts cut, and with nothing that is a secret, a person's or a test's. */
function cleaned(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const most = typeof value[0] === 'object' ? maxItems : maxWords;
    return value.slice(0, most).map((one) => cleaned(one, name));
  }
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, cleaned(one, key)]));
  if (typeof value !== 'string') return value;
  const text = replacements.reduce(
    (left, [fields, found, other]) => (fields.test(name) ? left.replace(found, other) : left),
    value,
  );
  const isFile = name.includes('/');
  return text.length > maxText && !isFile ? `${text.slice(0, cutTextAt)}…` : text;
}

const any = /(?:)/;
const replacements: [fields: RegExp, found: RegExp, other: string][] = [
  [/^password$/, /^\d+$/, '123456'],
  [/^securityPassword$/, /^\d+$/, '1234'],
  [/^codeVerification$/, /^\d+$/, '12345678'],
  [/^(apiKey|partnerKey|clientKey|webhookSecret|tokenNotification)$/, /^.+$/s, 'example'],
  [/^(secret|key)$/, /^(whsec|ck)_.+$/, '$1_example'],
  [/^authorization$/, /^([\w-]+: )?.+$/, '$1example'],
  [any, /^http:\/\/(127\.0\.0\.1|localhost):\d+/, 'https://erp.example'],
  [any, /^(127\.0\.0\.1|localhost):\d+/, 'erp.example'],
  [/document|taxId/i, /^\d{11}$/, '52998224725'],
  [/document|taxId/i, /^\d{3}\.\d{3}\.\d{3}-\d\d$/, '529.982.247-25'],
  [/document|taxId/i, /^\*{3}\.\d{3}\.\d{3}-\*\*$/, '***.982.247-**'],
];

/** One line for each, sorted. */
function written(examples: RecordedExamples): string {
  const parts = Object.entries(examples).map(([part, all]) => {
    const lines = Object.entries(all as object)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`);
    return `"${part}":{\n${lines.join(',\n')}\n}`;
  });
  return `{\n${parts.join(',\n')}\n}\n`;
}
