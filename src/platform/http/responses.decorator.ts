// What a handler may respond besides success, for the API reference. Most of it follows from the
// route; the rest is declared at the handler by `@Responds()`.
import { SetMetadata } from '@nestjs/common';
import { z } from 'zod';
import type { Route } from '../../bank-contract/route.js';

export interface DeclaredResponse {
  status: number;
  description: string;
  /** The body, as a named component of the API reference. Absent: the contract's error body. */
  body?: { name: string; schema: z.ZodType };
  /** The headers of the response and what each holds. */
  headers?: Record<string, string>;
}

const retryAfter = { 'Retry-After': 'In seconds.' };

const responsesKey = 'declared-responses';

/** Declares responses of the decorated handler. Several decorators add up. */
export function Responds(...responses: DeclaredResponse[]): MethodDecorator {
  return declaring((declared) => [...declared, ...responses]);
}

function declaring(
  add: (declared: readonly DeclaredResponse[]) => DeclaredResponse[],
): MethodDecorator {
  return (target, property, descriptor) => {
    const all = add(respondsOf(descriptor.value as object));
    SetMetadata(responsesKey, all)(target, property, descriptor);
  };
}

export function respondsOf(handler: object): DeclaredResponse[] {
  return (Reflect.getMetadata(responsesKey, handler) as DeclaredResponse[] | undefined) ?? [];
}

/** The response to a request that begins what ends later. */
export const begun: DeclaredResponse = {
  status: 202,
  description: 'It has begun.',
  headers: { Location: 'Where it is read.' },
};

/**
 * The handler passes on the bank's refusals, or responds that the bank did not answer. What it
 * declares of a status itself says more, on whichever side of this it stands.
 */
export function CallsBank(): MethodDecorator {
  const unknown = 'What was sent may have been done.';
  const headers = retryAfter;
  return declaring((declared) => [
    { status: 404, description: 'The bank, or the account, has no such resource.' },
    { status: 409, description: 'The bank refuses the request in the present state; see `code`.' },
    { status: 422, description: 'The bank refuses the request by a rule; see `code`.' },
    { status: 502, description: `The bank could not be reached, or failed. ${unknown}`, headers },
    { status: 504, description: `The bank did not respond in time. ${unknown}`, headers },
    ...declared,
  ]);
}

/** The errors that a route may have by what it reads and changes. */
export function errorsOf(route: Route, hasScopes: boolean): DeclaredResponse[] {
  const hasParams = hasFields(route.params);
  const hasBody = !(route.body instanceof z.ZodUndefined) || route.hasFileBody;
  const hasInput = hasParams || hasBody || hasFields(route.query);
  // A body that a route does not read is received all the same.
  const mayHaveBody = hasBody || route.method !== 'GET';
  const isAuthenticated = route.authentication !== 'none';
  const one = (isPossible: boolean, status: number, description: string, headers = {}) =>
    isPossible ? [{ status, description, headers }] : [];
  return [
    ...one(true, 400, 'The request is malformed. `errors` has the messages by JSON path.'),
    ...one(isAuthenticated, 401, 'There is no key, or a wrong one.'),
    ...one(isAuthenticated && hasScopes, 403, 'The key does not have the scope of this route.'),
    ...one(
      hasInput || route.isBeyondContract,
      ...([404, 'The account has nothing that the request names.'] as const),
    ),
    ...one(!route.isReading, 409, 'The request conflicts with the present state; see `code`.'),
    ...one(mayHaveBody, 413, 'The body is too large.'),
    ...one(hasParams, 414, 'An id in the path is too long.'),
    ...one(mayHaveBody, 415, 'The body is not JSON, or not a file of a supported type.'),
    ...one(!route.isReading, 422, 'The request breaks a rule; see `code`.'),
    ...one(true, 429, 'Too many requests. Nothing was done; retry later.', retryAfter),
    ...one(true, 500, 'An unexpected error.'),
    ...one(true, 503, 'The service or the account is not ready; retry later.', retryAfter),
  ];
}

function hasFields(schema: z.ZodType): boolean {
  return !(schema instanceof z.ZodObject) || Object.keys(schema.shape).length > 0;
}
