// Compares what was sent and answered with the API reference of docs/reference, which a test holds
// equal to the routes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { recordExample } from './recorded-examples.js';

export interface Exchange {
  method: string;
  /** The path with its query. */
  url: string;
  /** The text of a body: JSON, or a file of `sentType`. */
  sent?: string | undefined;
  sentType?: string | undefined;
  status: number;
  headers: Headers;
  text: string;
}

type Json = Record<string, unknown>;
interface Declared {
  headers?: Record<string, { $ref: string }>;
  content: Record<string, object>;
}
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; schema: Json }[];
  requestBody?: { content: Record<string, object> };
  responses: Record<string, Declared | { $ref: string }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Declared> };
}

/** Headers that clients read: an answer has only those of them that are declared. */
const contractHeaders = ['location', 'retry-after', 'idempotent-replayed', 'concilia-operation'];

export class ReferenceCheck {
  private readonly document: Document;
  private readonly ajv = new Ajv2020({ strict: false, validateSchema: false });
  private readonly templates: { parts: string[]; path: string }[];

  constructor(private readonly application: Application) {
    const file = join(folder, referenceFiles[application]);
    this.document = closed(JSON.parse(readFileSync(file, 'utf8'))) as Document;
    (formats as unknown as { default: typeof formats.default }).default(this.ajv);
    this.ajv.addSchema(this.document, 'reference');
    this.templates = Object.keys(this.document.paths)
      // A path without parameters is served before one that has them.
      .sort((a, b) => a.split('{').length - b.split('{').length)
      .map((path) => ({ path, parts: path.split('/') }));
  }

  /** Throws where the answer, or a request that succeeded, is not as the reference has it. */
  assert(exchange: Exchange): void {
    const found = this.find(exchange);
    if (found.length > 0) throw new Error(found.join('\n'));
    if (process.env['RECORD_EXAMPLES'] === '1') this.record(exchange);
  }

  private record(exchange: Exchange): void {
    const called = this.operationOf(exchange);
    if (!called) return;
    const { operation } = called;
    const { sent, status } = exchange;
    // The bank's own interface is read leniently: more may be sent than is declared.
    const isDeclared =
      status >= 300 ||
      !operation.requestBody?.content['application/json'] ||
      sent === undefined ||
      this.bodySent(exchange, sent).length === 0;
    const isFirst = String(status) === Object.keys(operation.responses)[0];
    const name = isFirst ? operation.operationId : `${operation.operationId}:${status}`;
    if (isDeclared) recordExample(this.application, name, exchange);
  }

  private operationOf({ method, url }: Pick<Exchange, 'method' | 'url'>) {
    const path = this.pathOf(url.split('?')[0]!);
    const operation = path && this.document.paths[path]![method.toLowerCase()];
    if (!operation) return undefined;
    return { path, operation, at: `reference#/paths/${pointer(path)}/${method.toLowerCase()}` };
  }

  /** What is not as the reference has it. A path that it does not have is not compared. */
  find(exchange: Exchange): string[] {
    const { method, url, sent, status, headers, text } = exchange;
    const called = this.operationOf(exchange);
    if (!called) return [];
    const { path, operation, at } = called;
    const response = this.responseOf(operation, at, status);
    const findings = response
      ? [
          ...headerFindings(response.declared, headers),
          ...this.bodyFindings(response, headers.get('content-type') ?? '', text),
        ]
      : ['is not declared'];
    if (status < 300) findings.push(...this.requestFindings(operation, at, url, sent));
    return findings.map((one) => `${method} ${path}: ${status}: ${one}`);
  }

  private pathOf(path: string): string | undefined {
    const given = path.split('/');
    return this.templates.find(
      ({ parts }) =>
        parts.length === given.length &&
        parts.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at])),
    )?.path;
  }

  private responseOf({ responses }: Operation, at: string, status: number) {
    const one = responses[status];
    if (!one) return undefined;
    if (!('$ref' in one)) return { declared: one, at: `${at}/responses/${status}` };
    const declared = this.document.components.responses[one.$ref.split('/').at(-1)!]!;
    return { declared, at: `reference${one.$ref}` };
  }

  private bodyFindings(
    { declared, at }: { declared: Declared; at: string },
    contentType: string,
    text: string,
  ): string[] {
    const type = contentType.split(';')[0]!;
    if (!declared.content[type]) return [`has the content type ${type}`];
    if (!type.endsWith('json')) return [];
    const schema = `${at}/content/${pointer(type)}/schema`;
    try {
      return this.findings(schema, JSON.parse(text), 'body');
    } catch (error) {
      return [`has a body that is no JSON: ${String(error)}`];
    }
  }

  private requestFindings(
    { parameters, requestBody }: Operation,
    at: string,
    url: string,
    sent: string | undefined,
  ): string[] {
    // The bank's own interface is read leniently.
    if (!url.startsWith('/v1/') || url.startsWith('/v1/customers')) return [];
    const query = new URL(url, 'http://reference').searchParams;
    const wrong = [...query.keys()].flatMap((name) => {
      const index = parameters.findIndex((one) => one.in === 'query' && one.name === name);
      if (index < 0) return [`the parameter ${name} is not declared`];
      const of = `parameter ${name}`;
      const values = query.getAll(name);
      const forms = values.length > 1 ? [values] : formsOf(values[0]!);
      const found = forms.map((form) =>
        this.findings(`${at}/parameters/${index}/schema`, form, of),
      );
      return found.some(({ length }) => length === 0) ? [] : found[0]!;
    });
    // An empty text is no body.
    if (!sent || !requestBody?.content['application/json']) return wrong;
    return [...wrong, ...this.findingsOfSent(at, sent)];
  }

  /** What of a body is not declared, also where the bank's own interface reads it leniently. */
  bodySent(called: Pick<Exchange, 'method' | 'url'>, sent: string): string[] {
    return this.findingsOfSent(this.operationOf(called)!.at, sent);
  }

  eventFindings(type: string, event: unknown): string[] {
    const at = `reference#/webhooks/${type}/post/requestBody/content/application~1json/schema`;
    return this.findings(at, event, 'event');
  }

  private findingsOfSent(at: string, sent: string): string[] {
    const schema = `${at}/requestBody/content/application~1json/schema`;
    return this.findings(schema, JSON.parse(sent), 'request');
  }

  private findings(schema: string, value: unknown, what: string): string[] {
    const validate = this.ajv.getSchema(schema) as ValidateFunction;
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${what}${instancePath} ${message} ${Object.values(params as object).join()}`,
    );
  }
}

const folder = join(import.meta.dirname, '../../docs/reference');

function headerFindings({ headers: declared = {} }: Declared, headers: Headers): string[] {
  const names = Object.keys(declared).map((name) => name.toLowerCase());
  const undeclared = contractHeaders.filter((name) => headers.has(name) && !names.includes(name));
  const seconds = headers.get('retry-after');
  return [
    ...undeclared.map((name) => `has the header ${name}, which is not declared`),
    ...(/^[0-9a-f]{32}$/.test(headers.get('x-trace-id') ?? '') ? [] : ['has no x-trace-id']),
    ...(seconds === null || /^\d+$/.test(seconds) ? [] : [`has Retry-After: ${seconds}`]),
  ];
}

/** What the text of a query may be. */
function formsOf(text: string): unknown[] {
  const number = text === '' ? Number.NaN : Number(text);
  return [
    text,
    ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
    ...(Number.isNaN(number) ? [] : [number]),
    [text],
  ];
}

function pointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}

const branches = ['allOf', 'anyOf', 'oneOf'];

/**
 * The document without other fields than it lists, where it does not say that there may be others,
 * as there may be in what the bank answers. A schema is closed where it is used, not where it
 * stands: a branch is part of the whole that uses it.
 */
function closed(value: unknown, isUsed = false): unknown {
  if (Array.isArray(value)) return value.map((one) => closed(one));
  if (typeof value !== 'object' || value === null) return value;
  const copy: Json = Object.fromEntries(
    Object.entries(value).map(([key, of]) => [
      key,
      key === 'properties'
        ? Object.fromEntries(
            Object.entries(of as Json).map(([name, one]) => [name, closed(one, true)]),
          )
        : closed(of, ['schema', 'items', 'additionalProperties'].includes(key)),
    ]),
  );
  const hasFields = ['$ref', 'properties', ...branches].some((key) => key in copy);
  return isUsed && hasFields ? { unevaluatedProperties: false, ...copy } : copy;
}

export type Application = 'service' | 'sandbox';
export const referenceFiles: Record<Application, string> = {
  service: 'openapi.json',
  sandbox: 'openapi-sandbox-bank.json',
};
const checks = new Map<string, ReferenceCheck>();

/** The check of an application, which is made once. */
export function referenceCheck(application: Application): ReferenceCheck {
  const check = checks.get(application) ?? new ReferenceCheck(application);
  checks.set(application, check);
  return check;
}
