// Encodes the input of a route as the HTTP request to the bank.
import { z } from 'zod';
import type { Route } from '../bank-contract/route.js';
import { stringifyJson } from '../platform/json/exact-json.js';

/** The exact body; null for a route without a body. */
export function encodeBody(route: Route, input: { body?: unknown }): string | null {
  return route.body instanceof z.ZodUndefined ? null : stringifyJson(encodeJsonBody(route, input));
}

/** The body as a JSON value; null for a route without a body. */
export function encodeJsonBody(route: Route, { body }: { body?: unknown }): unknown {
  return route.body instanceof z.ZodUndefined ? null : z.encode(route.body, body as never);
}

export function encodePathAndQuery(
  route: Route,
  input: { params?: unknown; query?: unknown },
): string {
  return fillPath(route, input) + encodeQuery(route, input);
}

function fillPath(route: Route, input: { params?: unknown }): string {
  if (!route.path.includes('{')) return route.path;
  const params = (input.params ? z.encode(route.params, input.params as never) : {}) as Record<
    string,
    string
  >;
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
}

function encodeQuery(route: Route, input: { query?: unknown }): string {
  const query = (input.query ? z.encode(route.query, input.query as never) : {}) as Record<
    string,
    string | string[] | undefined
  >;
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((item): [string, string] => [name, item]),
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs).toString()}` : '';
}
