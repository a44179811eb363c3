// The OpenAPI 3.1 document of the routes of an application. Its schemas describe the JSON as sent,
// before it is decoded.
import { z } from 'zod';
import { errorBody } from '../../bank-contract/errors.js';
import {
  adminKeyHeader,
  apiKeyHeader,
  chapters,
  partnerKeyHeader,
  type Chapter,
  type Route,
} from '../../bank-contract/route.js';
import { OpenApiComponents, type RecordedExamples } from './openapi-components.js';
import { headerDescriptions, parameterDescription } from './parameter-descriptions.js';
import type { DeclaredResponse } from './responses.decorator.js';

/** Of the service's API: another one where clients must change. Each event says its own. */
export const apiVersion = '1';

/** A route with its responses. Each status stands once; a success need not be among them. */
export interface DocumentedRoute {
  route: Route;
  /** The scope that the caller's key needs; null where it needs none. */
  scope: string | null;
  /** Whether an optional key makes a repeat the same request, and answers say that they repeat. */
  honoursKeys: boolean;
  responses: DeclaredResponse[];
}

export interface OpenApiInfo {
  title: string;
  description: string;
  /** Where `npm start` serves it. */
  server: string;
  /** What it sends to its callers, by type: the body. */
  webhooks?: Record<string, { summary: string; body: z.ZodType }>;
}

const securityHeaders = {
  'api-key': [apiKeyHeader, 'The key of a business system. It has scopes.'],
  'partner-key': [partnerKeyHeader, 'The key of a partner, who manages webhooks.'],
  'admin-key': [adminKeyHeader, 'The key of whoever runs the service.'],
} as const;

export function buildOpenApi(
  routes: readonly DocumentedRoute[],
  info: OpenApiInfo,
  examples: RecordedExamples,
): object {
  const paths: Record<string, Record<string, object>> = {};
  const components = new OpenApiComponents(examples);
  components.schema(errorBody, 'Error');
  components.schema(errorBody.required({ code: true }), 'CodedError');
  for (const documented of routes) {
    const { path, method } = documented.route;
    (paths[path] ??= {})[method.toLowerCase()] = operation(documented, components);
  }
  const { title, description, server, webhooks = {} } = info;
  const used = new Set(routes.map(({ route }) => route.chapter));
  const callers = new Set<string>(routes.map(({ route }) => route.authentication));
  return {
    openapi: '3.1.0',
    info: {
      ...{ title, description, version: apiVersion, contact: { name: 'Concilia' } },
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server, description: 'Where `npm start` serves it.' }],
    tags: Object.entries(chapters)
      .filter(([name]) => used.has(name as Chapter))
      .map(([name, said]) => ({ name, description: said })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(webhooks).map(([type, one]) => [
        type,
        { post: webhook(type, one, components) },
      ]),
    ),
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(securityHeaders)
          .filter(([name]) => callers.has(name))
          .map(([name, [header, said]]) => [
            name,
            { type: 'apiKey', in: 'header', name: header, description: said },
          ]),
      ),
      ...components,
    },
  };
}

function operation(
  { route, scope, honoursKeys, responses }: DocumentedRoute,
  components: OpenApiComponents,
): object {
  const { name, authentication } = route;
  const success = responses.find(({ status }) => status === route.successStatus);
  const others = responses.filter((one) => one !== success);
  const component = name.charAt(0).toUpperCase() + name.slice(1);
  // A repeat is answered as the first request was: with its result, or still with the operation.
  const repeatedOf = (status: number) =>
    !honoursKeys || route.idempotencyKey === 'none' || status >= 300
      ? {}
      : headerDescriptions.repeated;
  return {
    operationId: name,
    tags: [route.chapter],
    summary: firstSentence(route.summary),
    description: descriptionOf(route, scope, honoursKeys),
    security: authentication === 'none' ? [] : [{ [authentication]: [] }],
    ...(scope === null ? {} : { 'x-required-scope': scope }),
    parameters: [
      ...parameters(route.params, 'path', components),
      ...parameters(route.query, 'query', components),
      ...requestHeaders(route, responses),
    ],
    ...requestBody(route, `${component}Request`, components),
    responses: {
      [route.successStatus]: {
        description: success?.description ?? 'The request succeeded.',
        headers: describedHeaders(components, {
          ...headerDescriptions.always,
          ...repeatedOf(route.successStatus),
          ...success?.headers,
        }),
        content: Object.fromEntries(
          (route.responseContentTypes ?? ['application/json']).map((type) => [
            type,
            {
              schema: components.schema(route.response, `${component}Response`),
              ...components.example(name, 'response', type),
            },
          ]),
        ),
      },
      ...Object.fromEntries(
        others.map((one) => [
          one.status,
          components.response(
            one.status,
            declared(
              { ...one, headers: { ...repeatedOf(one.status), ...one.headers } },
              name,
              components,
            ),
          ),
        ]),
      ),
      default: components.response(
        'Other',
        declared(
          { status: 500, description: 'An error with the contract’s error body.' },
          name,
          components,
        ),
      ),
    },
  };
}

function webhook(
  type: string,
  { summary, body }: { summary: string; body: z.ZodType },
  components: OpenApiComponents,
): object {
  const name = type.replace(/(?:^|[._])(.)/g, (_, first: string) => first.toUpperCase());
  const operationId = `receive${name}`;
  const schema = components.schema(body, `${name}Event`);
  const example = components.example(operationId, 'request', 'application/json');
  return {
    ...{ operationId, tags: ['Notifications'], summary },
    description: `An event when ${summary}. It is signed as Standard Webhooks says, and repeated.`,
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema, ...example } } },
    responses: {
      '2XX': { description: 'The event is received.' },
      '410': { description: 'The endpoint is disabled.' },
      default: { description: 'The event is sent again later.' },
    },
  };
}

function firstSentence(text: string): string {
  return /^.+?[.:](?= |$)/.exec(text)?.[0].replace(/[.:]$/, '') ?? text;
}

const callerOf = {
  none: 'Needs no key.',
  'partner-key': 'Needs the partner key.',
  'admin-key': 'Needs the admin key.',
};

function descriptionOf(route: Route, scope: string | null, honoursKeys: boolean): string {
  const { authentication, idempotencyKey } = route;
  return [
    route.summary,
    authentication !== 'api-key'
      ? callerOf[authentication]
      : scope === null
        ? 'Needs an API key.'
        : `Needs an API key with the scope \`${scope}\`.`,
    ...(idempotencyKey === 'none' || (idempotencyKey === 'accepted' && !honoursKeys)
      ? []
      : ['A repeat with the same IdempotencyKey and body gets the first response again.']),
    ...(route.isBeyondContract
      ? ['The contract lacks it; the real bank is known to have it.']
      : []),
  ].join('\n\n');
}

const fileTypes = {
  'application/x-ndjson': 'One JSON object on each line.',
  'text/csv': 'CSV with headers.',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'XLSX with headers.',
};

function requestBody(route: Route, name: string, components: OpenApiComponents): object {
  if (route.hasFileBody) {
    const content = Object.entries(fileTypes).map(([type, description]) => [
      type,
      {
        schema: { type: 'string', description, ...(type.startsWith('text') ? {} : binary) },
        ...components.example(route.name, 'request', type),
      },
    ]);
    return { requestBody: { required: true, content: Object.fromEntries(content) } };
  }
  if (route.body instanceof z.ZodUndefined) return {};
  const schema = components.schema(route.body, name);
  const required = !route.body.safeParse(undefined).success;
  const example = components.example(route.name, 'request', 'application/json');
  return { requestBody: { required, content: { 'application/json': { schema, ...example } } } };
}

const binary = { contentMediaType: 'application/octet-stream' };

/** The statuses whose error body always has a `code` (`ErrorFilter`). */
const codedStatuses = [409, 422, 429];

function declared(
  { status, description, body, headers = {} }: DeclaredResponse,
  operationId: string,
  components: OpenApiComponents,
): object {
  const errorName = codedStatuses.includes(status) ? 'CodedError' : 'Error';
  const json = 'application/json';
  const content = body
    ? {
        [json]: {
          schema: components.schema(body.schema, body.name),
          ...components.example(`${operationId}:${status}`, 'response', json),
        },
      }
    : {
        'application/problem+json': {
          schema: { $ref: `#/components/schemas/${errorName}` },
          examples: components.errorExamples(status),
        },
      };
  return {
    description,
    headers: describedHeaders(components, { ...headerDescriptions.always, ...headers }),
    content,
  };
}

function describedHeaders(
  components: OpenApiComponents,
  headers: Record<string, string>,
): Record<string, object> {
  const described = Object.entries(headers).map(([name, description]) => {
    const schema = { type: name === 'Retry-After' ? 'integer' : 'string' };
    return [name, components.header(name, { description, schema })];
  });
  return Object.fromEntries(described) as Record<string, object>;
}

function parameters(
  schema: z.ZodType,
  location: 'path' | 'query',
  components: OpenApiComponents,
): object[] {
  const { properties = {}, required = [] } = components.inlineSchema(schema) as {
    properties?: Record<string, { description?: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    ...{ name, in: location, required: location === 'path' || required.includes(name) },
    description: description ?? parameterDescription(name, location),
    schema: property,
  }));
}

function requestHeaders(route: Route, responses: readonly DeclaredResponse[]): object[] {
  const header = (name: string, required: boolean, schema: object) => ({
    ...{ name, in: 'header', required, schema },
    description: headerDescriptions.request[name],
  });
  const keyHeader = header('IdempotencyKey', route.idempotencyKey === 'required', {
    ...{ type: 'string', minLength: 1, maxLength: 255 },
  });
  return [
    ...(route.idempotencyKey === 'none' ? [] : [keyHeader]),
    // What begins an operation takes the preferences of its caller.
    ...(responses.some(({ status }) => status === 202)
      ? [
          header('Prefer', false, { type: 'string', enum: ['respond-async'] }),
          header('Concilia-Allow-Duplicate', false, { type: 'string', enum: ['true'] }),
        ]
      : []),
  ];
}
