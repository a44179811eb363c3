// One value an endpoint: it drives the controller that serves it, the call that asks for it, the OpenAPI
// document and the contract suite, so that the four cannot disagree.
import { z } from 'zod';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Who proves itself, and how: with an API key, a partner's, the operator's, or not at all. */
export type RouteAuthentication = 'api-key' | 'partner-key' | 'admin-key' | 'none';

export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  /** Unique, in camelCase; OpenAPI's operationId. */
  name: string;
  /** The chapter under which the API reference lists it. */
  chapter: string;
  summary: string;
  method: HttpMethod;
  /** With `{name}` for each parameter. */
  path: string;
  authentication: RouteAuthentication;
  /** `IdempotencyKey`: `required` answers 400 without it, `accepted` takes it, `none` ignores it. */
  idempotencyKey: 'required' | 'accepted' | 'none';
  successStatus: number;
  /** The content type of its success, where that is not JSON. */
  answerType?: string;
  params: Params;
  query: Query;
  body: Body;
  response: Response;
}

/** What a handler is given and a caller gives: the decoded parts of a request. */
export interface RouteInput<R extends Route> {
  params: z.output<R['params']>;
  query: z.output<R['query']>;
  body: z.output<R['body']>;
  /** Null when the caller sent none. */
  idempotencyKey: string | null;
}

export type RouteOutput<R extends Route> = z.output<R['response']>;

/** A part of a request that a route does not have. */
export const absent = z.undefined();
/** A route without query parameters ignores those that come. */
const anyQuery = z.looseObject({});
const noParams = z.looseObject({});

type RouteDefaults = 'params' | 'query' | 'body' | 'idempotencyKey' | 'successStatus';

/** Declares a route; what is left out is absent, and success is 200. */
export function route<
  Response extends z.ZodType,
  Params extends z.ZodType = typeof noParams,
  Query extends z.ZodType = typeof anyQuery,
  Body extends z.ZodType = typeof absent,
>(
  declared: Omit<Route<Params, Query, Body, Response>, RouteDefaults> &
    Partial<Pick<Route<Params, Query, Body, Response>, RouteDefaults>>,
): Route<Params, Query, Body, Response> {
  return {
    params: noParams as unknown as Params,
    query: anyQuery as unknown as Query,
    body: absent as unknown as Body,
    idempotencyKey: 'none',
    successStatus: 200,
    ...declared,
  };
}
