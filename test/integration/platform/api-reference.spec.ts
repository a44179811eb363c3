// The API references of the service and of the sandbox bank declare what each route responds. The
// callers of all other tests throw when a response has a status that is not declared.
import { expectDocument } from '../../support/docs-document.js';
import { referenceCheck } from '../../support/reference-check.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';

interface OpenApiResponse {
  description: string;
  headers?: Record<string, object>;
  content: Record<string, { schema: { $ref?: string } }>;
}
interface OpenApiOperation {
  operationId: string;
  parameters: { name: string; description?: string }[];
  responses: Record<string, OpenApiResponse | { $ref: string }>;
}
interface OpenApi {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, { properties: object; required: string[] }>;
    responses: Record<string, OpenApiResponse>;
  };
}

let service: ServiceApplication;
let reference: OpenApi;
let bankReference: OpenApi;
beforeAll(async () => {
  service = await serviceApplication();
  reference = (await service.call('GET', '/openapi.json')).body;
  bankReference = (await service.sandbox.call('GET', '/openapi.json')).body;
});
afterAll(() => service.stop());

it('is shown in no frame of another page', async () => {
  for (const application of [service, service.sandbox]) {
    const { status, headers } = await application.call('GET', '/docs');
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  }
});

it('is where it was, and what docs/reference has', async () => {
  expect((await service.call('GET', '/docs/openapi.json')).status).toBe(200);
  expectDocument('openapi.json', reference);
  expectDocument('openapi-sandbox-bank.json', bankReference);
});

it('describes each parameter', () => {
  const undescribed = [reference, bankReference].flatMap(({ paths }) =>
    Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, parameters }) =>
        parameters
          .filter(({ description }) => !description)
          .map(({ name }) => `${operationId}: ${name}`),
      ),
    ),
  );
  expect(undescribed).toEqual([]);
});

it('gives each value a form, or says why it has none', () => {
  const unknown: string[] = [];
  const look = (value: object, path: string) => {
    for (const [key, of] of Object.entries(value) as [string, unknown][]) {
      if (typeof of !== 'object' || of === null || /^examples?$/.test(key)) continue;
      const isSchema = /\/properties$/.test(path) || key === 'items' || key === 'schema';
      const forms = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'description'];
      if (isSchema && !forms.some((form) => form in of)) unknown.push(`${path}/${key}`);
      look(of, `${path}/${key}`);
    }
  };
  for (const { paths, components } of [reference, bankReference]) look({ paths, components }, '');
  expect(unknown).toEqual([]);
});

const responseAt = ({ components }: OpenApi, one: OpenApiResponse | { $ref: string }) =>
  '$ref' in one ? components.responses[one.$ref.split('/').at(-1)!]! : one;
const responsesOf = (document: OpenApi, method: string, path: string) =>
  Object.fromEntries(
    Object.entries(document.paths[path]![method]!.responses).map(([status, one]) => [
      status,
      responseAt(document, one),
    ]),
  );
const statusesOf = (document: OpenApi, method: string, path: string) =>
  Object.keys(responsesOf(document, method, path)).filter((status) => status !== 'default');

const operationRoutes = [
  ['post', '/baas/v1/charges'],
  ['post', '/baas/api/v2/pix/qrcode/static'],
  ['post', '/baas/api/v2/transfers'],
  ['post', '/baas/v1/transfers/batch'],
  ['post', '/baas/api/v1/bill-payments'],
  ['put', '/baas/api/v1/transactions/{transactionId}/refund'],
  ['post', '/v1/customers'],
] as const;

it.each(operationRoutes)('declares the operation of a 202 of %s %s', (method, path) => {
  const responses = responsesOf(reference, method, path);
  expect(responses[202]).toMatchObject({
    headers: { Location: {}, 'Concilia-Operation': {} },
    content: {
      'application/json': {
        schema: {
          $ref: path.endsWith('/batch')
            ? '#/components/schemas/PendingItems'
            : '#/components/schemas/PendingOperation',
        },
      },
    },
  });
  expect(responses[409]).toMatchObject({
    description: expect.stringContaining('possible_duplicate'),
    headers: { Location: {} },
  });
  expect(statusesOf(bankReference, method, path)).not.toContain('202');
});

it('describes the operation and the errors once, with their required fields', () => {
  const { PendingOperation, Error: error, CodedError } = reference.components.schemas;
  const fields = ['id', 'kind', 'state', 'idempotencyKey', 'attempts', 'response'];
  expect(Object.keys(PendingOperation!.properties)).toEqual(
    expect.arrayContaining([...fields, 'amount', 'status']),
  );
  expect(PendingOperation!.required).toEqual(expect.arrayContaining(['id', 'state', 'status']));
  expect(error!.required).not.toContain('code');
  expect(CodedError!.required).toEqual(
    expect.arrayContaining(['type', 'title', 'status', 'traceId', 'code']),
  );
});

it('declares the statuses of a route that changes something, and of one that reads', () => {
  expect(statusesOf(reference, 'post', '/baas/api/v2/transfers')).toEqual(
    '200 202 400 401 403 404 409 413 415 422 429 500 502 503 504'.split(' '),
  );
  expect(statusesOf(bankReference, 'post', '/baas/api/v2/transfers')).toEqual(
    '200 400 401 404 409 413 415 422 429 500 503'.split(' '),
  );
  expect(statusesOf(reference, 'get', '/v1/operations/{id}')).toEqual(
    '200 400 401 403 404 414 429 500 503'.split(' '),
  );
  expect(statusesOf(reference, 'get', '/v1/events')).toContain('410');
});

it('refers to declared schemas only, in every response of every route', () => {
  for (const document of [reference, bankReference]) {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(operations.length).toBeGreaterThan(30);
    for (const { responses } of operations)
      for (const { content } of Object.values(responses).map((one) => responseAt(document, one)))
        for (const { schema } of Object.values(content))
          if (schema.$ref)
            expect(document.components.schemas).toHaveProperty(schema.$ref.split('/').at(-1)!);
  }
});

describe('what a test is answered', () => {
  const problem = { type: 'x', title: 'x', status: 404, traceId: 'x' };
  /** What is not as the reference of the service has it, of an answer that is but for `change`. */
  const found = (
    [method, url, status, body]: [method: string, url: string, status: number, body: unknown],
    { type = 'application/json', headers = {}, sent = undefined as unknown } = {},
  ) =>
    referenceCheck('service').find({
      ...{ method, url, status, text: JSON.stringify(body) },
      headers: new Headers({ 'content-type': type, 'x-trace-id': 'a'.repeat(32), ...headers }),
      sent: sent === undefined ? undefined : JSON.stringify(sent),
    });
  const none = { data: [], next: null };

  it('is compared with the reference', () => {
    expect(found(['GET', '/v1/events?limit=5&after=3', 200, none])).toEqual([]);
    expect(found(['GET', '/unknown', 999, null])).toEqual([]);
    const type = 'application/problem+json';
    expect(found(['GET', '/v1/operations/1', 404, problem], { type })).toEqual([]);
  });

  it.each<[what: string, ...Parameters<typeof found>]>([
    ['404: is not declared', ['GET', '/v1/summary', 404, problem]],
    ['200: body must have required property', ['GET', '/v1/events', 200, { data: [] }]],
    ['unevaluated properties more', ['GET', '/v1/events', 200, { ...none, more: 1 }]],
    ['content type text/html', ['GET', '/v1/events', 200, none], { type: 'text/html' }],
    ['header location', ['GET', '/v1/events', 200, none], { headers: { location: '/' } }],
    ['no x-trace-id', ['GET', '/v1/events', 200, none], { headers: { 'x-trace-id': '' } }],
    ['parameter limit', ['GET', '/v1/events?limit=0', 200, none]],
    ['parameter first is not', ['GET', '/v1/events?first=1', 200, none]],
    ['request must NOT', ['POST', '/v1/reconciliations', 202, {}], { sent: { a: 1 } }],
  ])('fails a test where it is outside: %s', (what, ...answer) => {
    expect(found(...answer).join('\n')).toContain(what);
  });
});
