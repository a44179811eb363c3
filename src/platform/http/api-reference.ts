// Serves OpenAPI at /docs/openapi.json, generated from the routes of the application, and Swagger
// UI at /docs.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { z } from 'zod';
import {
  adminKeyHeader,
  apiKeyHeader,
  partnerKeyHeader,
  type Route,
} from '../../bank-contract/route.js';
import { errorBody } from '../../bank-contract/errors.js';
import { routeOf } from './contract-route.js';
import { errorsOf, respondsOf, type DeclaredResponse } from './responses.decorator.js';

const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

export interface ApiReferenceOptions {
  title: string;
  /** Whether a valid key may lack the scope of a route. */
  hasScopes: boolean;
}

/** A route with the responses that are no success. Each status stands once. */
export interface DocumentedRoute {
  route: Route;
  responses: DeclaredResponse[];
}

/**
 * Serves the API reference. The document is built at the first request, when every controller is
 * known.
 */
export function serveApiReference(
  application: NestFastifyApplication,
  { title, hasScopes }: ApiReferenceOptions,
): void {
  const server = application.getHttpAdapter().getInstance();
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  let document: string | undefined;
  server.get('/docs', (_request, reply) =>
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      })
      .send(page(title)),
  );
  server.get('/docs/start.js', (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(startScript),
  );
  server.get('/docs/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(buildOpenApi(documentedRoutes(application, hasScopes), title));
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
  for (const [name, type] of Object.entries(assets)) {
    server.get(`/docs/${name}`, async (_request, reply) => {
      const asset = await readFile(join(folder, name));
      return reply
        .headers({ 'content-type': type, 'cache-control': 'public, max-age=86400' })
        .send(asset);
    });
  }
}

/** Every route that a controller of the application handles. */
export function servedRoutes(application: NestFastifyApplication): Route[] {
  return servedHandlers(application).map(({ route }) => route);
}

/** The routes with all their responses. What a handler declares replaces what follows from it. */
export function documentedRoutes(
  application: NestFastifyApplication,
  hasScopes: boolean,
): DocumentedRoute[] {
  return servedHandlers(application).map(({ route, handler }) => {
    const responses = [...errorsOf(route, hasScopes), ...respondsOf(handler)];
    const byStatus = new Map(responses.map((response) => [response.status, response]));
    return { route, responses: [...byStatus.values()].sort((a, b) => a.status - b.status) };
  });
}

function servedHandlers(application: NestFastifyApplication): { route: Route; handler: object }[] {
  return listControllerMethods(application).flatMap((handler) => {
    const route = routeOf(handler);
    return route ? { route, handler } : [];
  });
}

const securityHeaders = {
  'api-key': apiKeyHeader,
  'partner-key': partnerKeyHeader,
  'admin-key': adminKeyHeader,
} as const;

/**
 * The OpenAPI 3.1 document of the routes. Its schemas describe the JSON as sent, before it is
 * decoded.
 */
export function buildOpenApi(routes: readonly DocumentedRoute[], title: string): object {
  const paths: Record<string, Record<string, object>> = {};
  const schemas: Record<string, object> = {
    Error: jsonSchema(errorBody),
    CodedError: jsonSchema(errorBody.required({ code: true })),
  };
  for (const documented of routes) {
    const { path, method } = documented.route;
    (paths[path] ??= {})[method.toLowerCase()] = operation(documented);
    for (const { body } of documented.responses)
      if (body) schemas[body.name] = jsonSchema(body.schema);
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1' },
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(securityHeaders).map(([name, header]) => [
          name,
          { type: 'apiKey', in: 'header', name: header },
        ]),
      ),
      schemas,
    },
  };
}

function operation({ route, responses }: DocumentedRoute): object {
  return {
    operationId: route.name,
    tags: [route.chapter],
    summary: route.summary,
    security: route.authentication === 'none' ? [] : [{ [route.authentication]: [] }],
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...idempotencyParameter(route),
    ],
    ...(route.body instanceof z.ZodUndefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchema(route.body) } },
          },
        }),
    responses: {
      [route.successStatus]: {
        description: 'The request succeeded.',
        content: {
          [route.responseContentType ?? 'application/json']: { schema: jsonSchema(route.response) },
        },
      },
      ...Object.fromEntries(responses.map((one) => [one.status, declared(one)])),
      default: declared({ status: 500, description: 'An error with the contract’s error body.' }),
    },
  };
}

/** The statuses whose error body always has a `code` (`ErrorFilter`). */
const codedStatuses = [409, 422, 429];

function declared({ status, description, body, headers = {} }: DeclaredResponse): object {
  const errorName = codedStatuses.includes(status) ? 'CodedError' : 'Error';
  const schema = { $ref: `#/components/schemas/${body?.name ?? errorName}` };
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: name === 'Retry-After' ? 'integer' : 'string' } },
  ]);
  return {
    description,
    ...(described.length > 0 ? { headers: Object.fromEntries(described) } : {}),
    content: { [body ? 'application/json' : 'application/problem+json']: { schema } },
  };
}

function parameters(schema: z.ZodType, location: 'path' | 'query'): object[] {
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: property,
  }));
}

function idempotencyParameter(route: Route): object[] {
  if (route.idempotencyKey === 'none') return [];
  return [
    {
      name: 'IdempotencyKey',
      in: 'header',
      required: route.idempotencyKey === 'required',
      schema: { type: 'string' },
    },
  ];
}

function jsonSchema(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    reused: 'inline',
  });
}

function page(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
}

const startScript = `window.SwaggerUIBundle({
  url: '/docs/openapi.json',
  dom_id: '#reference',
  tryItOutEnabled: true,
  docExpansion: 'list',
});
`;

/** The methods of all controllers of an application, with the metadata of their decorators. */
export function listControllerMethods(application: Pick<INestApplicationContext, 'get'>): object[] {
  const scanner = new MetadataScanner();
  const modules = [...application.get(ModulesContainer).values()];
  return modules.flatMap(({ controllers }) =>
    [...controllers.values()].flatMap(({ metatype }) => {
      const prototype = metatype?.prototype as Record<string, object>;
      return scanner.getAllMethodNames(prototype).map((name) => prototype[name]!);
    }),
  );
}
