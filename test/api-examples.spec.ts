// The examples of the API references. With `RECORD_EXAMPLES=1`, tests that call an operation record
// what is missing; the linters of the references find what has another form than its schema.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fieldDescriptions } from '../src/platform/http/field-descriptions.js';
import { referenceCheck, referenceFiles, type Application } from './support/reference-check.js';

type Content = Record<string, { example?: unknown; examples?: Record<string, { $ref: string }> }>;
interface Operation {
  requestBody?: { content: Content };
  responses: Record<string, { $ref?: string; content?: Content }>;
}
interface Reference {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Required<Operation> }>;
  components: {
    responses: Record<string, { content: Content }>;
    examples: Record<string, { value: { status: number } }>;
  };
}

const readReference = (file: string) =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../docs/reference', file), 'utf8'),
  ) as Reference;

/** Of these an example says nothing to a reader. */
const isBinary = (type: string) =>
  ['text/html', 'application/zip'].includes(type) || type.includes('spreadsheet');
const withoutExample = (content: Content = {}) =>
  Object.entries(content)
    .filter(([type, { example, examples = {} }]) => {
      return !isBinary(type) && example === undefined && Object.keys(examples).length === 0;
    })
    .map(([type]) => type);

describe.each(Object.entries(referenceFiles) as [Application, string][])(
  'the reference of the %s',
  (application, file) => {
    const reference = readReference(file);
    const { paths, webhooks, components } = reference;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, of]) => ({ path, method, ...of })),
    );

    it('has an example of each body and of each error', () => {
      const missing = operations.flatMap(({ path, method, requestBody, responses }) => [
        ...withoutExample(requestBody?.content).map((type) => `${method} ${path}: ${type}`),
        ...Object.entries(responses).flatMap(([status, { content }]) =>
          withoutExample(content).map((type) => `${method} ${path}: ${status}: ${type}`),
        ),
      ]);
      for (const [type, { post }] of Object.entries(webhooks))
        missing.push(...withoutExample(post.requestBody.content).map(() => type));
      for (const [name, { content }] of Object.entries(components.responses))
        missing.push(...withoutExample(content).map((type) => `${name}: ${type}`));
      expect(missing).toEqual([]);
    });

    it('has examples in the form of their schemas, and without other fields', () => {
      const check = referenceCheck(application);
      const wrong = operations.flatMap(({ path, method, requestBody, responses }) => {
        const sent = requestBody?.content['application/json']?.example;
        const ofRequest =
          sent === undefined ? [] : check.bodySent({ method, url: path }, JSON.stringify(sent));
        const answered = Object.entries(responses).flatMap(([status, { content = {} }]) => {
          const [type, one] = Object.entries(content)[0] ?? [];
          if (!type?.endsWith('json') || !one?.example) return [];
          const headers = new Headers({ 'content-type': type, 'x-trace-id': 'a'.repeat(32) });
          const exchange = { method, url: path, status: Number(status), headers };
          return check.find({ ...exchange, text: JSON.stringify(one.example) });
        });
        return [...ofRequest.map((one) => `${method} ${path}: ${one}`), ...answered];
      });
      for (const [type, { post }] of Object.entries(webhooks)) {
        const event = post.requestBody.content['application/json']?.example;
        wrong.push(...check.eventFindings(type, event).map((one) => `${type}: ${one}`));
      }
      expect(wrong).toEqual([]);
    });

    it('has no secret, and no address of a test', () => {
      const secrets =
        /whsec_(?!example)|\bck_(?!example)[\w-]{9}|-----BEGIN|127\.0\.0\.1:(?!3000|3900)\d|localhost/;
      expect(secrets.exec(JSON.stringify(reference))?.[0]).toBeUndefined();
    });
  },
);

it('no field is described that no body has', () => {
  const names = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties } = value as { properties?: object };
    for (const name of Object.keys(properties ?? {})) names.add(name);
    Object.values(value).forEach(look);
  };
  for (const file of Object.values(referenceFiles)) look(readReference(file).components);
  expect(Object.keys(fieldDescriptions).filter((name) => !names.has(name))).toEqual([]);
});
