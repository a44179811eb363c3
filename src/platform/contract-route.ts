// Serves a contract route by a controller's method: `@Handles(route)` binds method, path and answer,
// `@Input()` hands the decoded request, so that a controller cannot drift from the contract.
import type { Readable } from 'node:stream';
import {
  applyDecorators,
  createParamDecorator,
  Delete,
  Get,
  HttpCode,
  Patch,
  Post,
  Put,
  SetMetadata,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLosslessNumber } from 'lossless-json';
import { map } from 'rxjs';
import { z } from 'zod';
import { idempotencyKeyHeader, isIdempotencyKey } from '../contract/authentication.js';
import type { HttpMethod, Route, RouteInput } from '../contract/route.js';
import { AppError, invariant } from './errors.js';
import { parseJson, stringifyJson } from './exact-json.js';

const routeKey = 'contract-route';
const verbs = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete } satisfies Record<
  HttpMethod,
  unknown
>;

/** Serves `route`; the method's answer is encoded by the route's response schema, or sent as it is when a Reply. */
export function Handles(route: Route): MethodDecorator {
  return applyDecorators(
    SetMetadata(routeKey, route),
    verbs[route.method](route.path.replace(/\{(\w+)\}/g, ':$1')),
    HttpCode(route.successStatus),
    UseInterceptors(AnswerInterceptor),
  );
}

/** A body may be this long where the handler says so; a mebibyte elsewhere. */
export function TakesUpTo(bodyLimitBytes: number): MethodDecorator {
  return RouteConfig({ bodyLimitBytes });
}

/** The route that a handler serves; undefined for handlers outside the contract. */
export function routeOf(handler: object): Route | undefined {
  return Reflect.getMetadata(routeKey, handler) as Route | undefined;
}

/** The decoded request of the route; throws `validation_failed` naming each field by its JSON path. */
export const Input = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const route = routeOf(context.getHandler());
  invariant(route, '@Input() stands on a method without @Handles()');
  return decodeRequest(route, context.switchToHttp().getRequest<FastifyRequest>());
});

/** An answer whose status, headers or bytes are not those that the route's schema would write. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body: string | Uint8Array,
    readonly headers: Record<string, string> = {},
  ) {}
}

/**
 * An answer that is made while it is sent: read as fast as the client takes it, ended when the client goes away, and
 * its connection is cut when it fails, so that a part never looks like the whole.
 */
export class StreamedReply {
  constructor(
    readonly body: Readable,
    readonly headers: Record<string, string>,
  ) {}
}

class AnswerInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const route = routeOf(context.getHandler());
    invariant(route, 'AnswerInterceptor stands on a method without @Handles()');
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer: unknown) => {
        void reply.header('content-type', 'application/json; charset=utf-8');
        if (answer instanceof StreamedReply) {
          void reply.headers(answer.headers);
          return answer.body;
        }
        if (!(answer instanceof Reply)) return stringifyJson(z.encode(route.response, answer));
        void reply.status(answer.status).headers(answer.headers);
        return answer.body;
      }),
    );
  }
}

/** Decodes a request by its route. Key first, then the parts: a missing key is told before a bad body. */
export function decodeRequest<R extends Route>(route: R, request: FastifyRequest): RouteInput<R> {
  const issues: Issues = {};
  const idempotencyKey = readIdempotencyKey(route, request, issues);
  const params = decode(route.params, request.params, issues);
  const query = decode(route.query, request.query ?? {}, issues);
  const body = decode(route.body, readBody(route, request), issues);
  if (Object.keys(issues).length > 0) throw new AppError('validation_failed', { errors: issues });
  return { params, query, body, idempotencyKey } as RouteInput<R>;
}

export type Issues = Record<string, string[]>;

/** The decoded value; what is wrong with it goes into `issues`, by its JSON path. */
export function decode(schema: z.ZodType, value: unknown, issues: Issues): unknown {
  const result = z.safeDecode(schema, value as never);
  const found = result.success
    ? numbersTakenForObjects(result.data).map((path) => ({ path, message: 'Must be an object.' }))
    : result.error.issues;
  for (const { path, message } of found) (issues[jsonPath(path)] ??= []).push(message);
  return result.success ? result.data : undefined;
}

/**
 * Where a schema read a number as an object with nothing in it: exact numbers are objects in JavaScript, and such a
 * schema makes a plain object of what it finds inside.
 */
function numbersTakenForObjects(value: unknown, path: PropertyKey[] = []): PropertyKey[][] {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return [];
  if ('isLosslessNumber' in value) return [path];
  return Object.entries(value).flatMap(([key, part]) =>
    numbersTakenForObjects(part, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function jsonPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => text + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`),
    '$',
  );
}

function readIdempotencyKey(route: Route, request: FastifyRequest, issues: Issues): string | null {
  if (route.idempotencyKey === 'none') return null;
  const sent = request.headers[idempotencyKeyHeader];
  const key = Array.isArray(sent) ? sent[0] : sent;
  if (key === undefined || key === '') {
    if (route.idempotencyKey === 'required')
      issues['IdempotencyKey'] = ['The header IdempotencyKey is required.'];
    return null;
  }
  if (!isIdempotencyKey(key))
    issues['IdempotencyKey'] = ['Must be 1 to 255 printable characters without spaces.'];
  return key;
}

const jsonTypes = /^(application\/(json|[\w.+-]+\+json)|text\/json)\b/i;

function readBody(route: Route, request: FastifyRequest): unknown {
  // A route without a body takes whatever a client sends along (an empty object, mostly).
  if (route.body instanceof z.ZodUndefined) return undefined;
  const bytes = request.body;
  const isEmpty = !(bytes instanceof Uint8Array) || bytes.length === 0;
  if (isEmpty && route.body instanceof z.ZodOptional) return undefined;
  if (isEmpty) throw new AppError('validation_failed', { errors: { $: ['A body is required.'] } });
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && !jsonTypes.test(contentType))
    throw new AppError('unsupported_media_type', { public: 'The body must be JSON.' });
  return parseJson(bytes);
}
