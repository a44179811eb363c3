// Serves OpenAPI at /openapi.json, generated from the routes of the application, and Swagger UI at
// /docs.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { INestApplicationContext } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Route } from '../../bank-contract/route.js';
import { routeOf } from './contract-route.js';
import type { RecordedExamples } from './openapi-components.js';
import { buildOpenApi, type DocumentedRoute, type OpenApiInfo } from './openapi.js';
import { errorsOf, respondsOf } from './responses.decorator.js';

const assets: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** Which scope the key of a handler's caller must have; null where keys have none. */
export type ScopeOf = ((handler: object) => string) | null;

export interface ApiReferenceOptions extends OpenApiInfo {
  scopeOf: ScopeOf;
  /** Read at the first request of the document only. */
  examples: () => Promise<{ default: RecordedExamples }>;
}

/**
 * Serves the API reference. The document is built at the first request, when every controller is
 * known. Where Swagger UI is not installed, as in the package of the sandbox bank, the document is
 * all of the reference.
 */
export function serveApiReference(
  application: NestFastifyApplication,
  { scopeOf, examples, ...info }: ApiReferenceOptions,
): void {
  const server = application.getHttpAdapter().getInstance();
  const folder = findSwaggerUi();
  let document: string | undefined;
  server.get('/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(
      buildOpenApi(documentedRoutes(application, scopeOf), info, (await examples()).default),
    );
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
  server.get('/docs/openapi.json', (_request, reply) => reply.redirect('/openapi.json'));
  if (folder === null) {
    server.get('/docs', (_request, reply) => reply.redirect('/openapi.json'));
    return;
  }
  server.get('/docs', (_request, reply) =>
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
          "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      })
      .send(page(info.title)),
  );
  server.get('/docs/start.js', (_request, reply) =>
    reply.header('content-type', 'text/javascript; charset=utf-8').send(startScript),
  );
  for (const [name, type] of Object.entries(assets)) {
    server.get(`/docs/${name}`, async (_request, reply) => {
      const asset = await readFile(join(folder, name));
      return reply
        .headers({ 'content-type': type, 'cache-control': 'public, max-age=86400' })
        .send(asset);
    });
  }
}

function findSwaggerUi(): string | null {
  try {
    return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    return null;
  }
}

/** Every route that a controller of the application handles. */
export function servedRoutes(application: NestFastifyApplication): Route[] {
  return servedHandlers(application).map(({ route }) => route);
}

/** The routes with all their responses. What a handler declares replaces what follows from it. */
export function documentedRoutes(
  application: NestFastifyApplication,
  scopeOf: ScopeOf,
): DocumentedRoute[] {
  return servedHandlers(application).map(({ route, handler }) => {
    const scope = route.authentication === 'api-key' && scopeOf ? scopeOf(handler) : null;
    const responses = [...errorsOf(route, scopeOf !== null), ...respondsOf(handler)];
    const byStatus = new Map(responses.map((response) => [response.status, response]));
    // The sandbox bank refunds again, as the contract has no key there.
    const honoursKeys = scopeOf !== null;
    const sorted = [...byStatus.values()].sort((a, b) => a.status - b.status);
    return { route, scope, honoursKeys, responses: sorted };
  });
}

function servedHandlers(application: NestFastifyApplication): { route: Route; handler: object }[] {
  return listControllerMethods(application).flatMap((handler) => {
    const route = routeOf(handler);
    return route ? { route, handler } : [];
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
  url: '/openapi.json',
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
