// Binds a controller's method to a contract route. `@Handles(route)` sets the HTTP method, the path
// and the response encoding; `@Input()` injects the decoded request. So a controller cannot differ
// from the contract. Both are done around the method itself: an interceptor would cost each request
// a dozen promises and observables.
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
  type ExecutionContext,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLosslessNumber } from 'lossless-json';
import { z } from 'zod';
import {
  idempotencyKeyHeader,
  isIdempotencyKey,
  normalizeKey,
  type HttpMethod,
  type Route,
  type RouteInput,
} from '../../bank-contract/route.js';
import {
  fieldError,
  fieldErrorOf,
  readingFields,
  type FieldError,
  type FieldErrors,
} from '../../bank-contract/field-errors.js';
import { AppError, invalidField, invariant, refuseInvalid } from '../errors.js';
import { parseJson, requestBodyJson, stringifyJson } from '../json/exact-json.js';
import { readLeniently, type Departure } from './lenient-request.js';
import { findUnknownFields, type UnknownField } from './unknown-fields.js';

const routeKey = 'contract-route';
const verbs = { GET: Get, POST: Post, PUT: Put, PATCH: Patch, DELETE: Delete } satisfies Record<
  HttpMethod,
  unknown
>;

type Handler = (...parameters: unknown[]) => unknown;

/**
 * Serves `route` with the decorated method. Its return value is encoded by the route's response
 * schema; a `Reply` or `StreamedReply` is sent unchanged. `served` is the route with what this
 * application takes beyond it.
 */
export function Handles(route: Route, served: Route = route): MethodDecorator {
  const declare = applyDecorators(
    SetMetadata(routeKey, served),
    verbs[route.method](route.path.replace(/\{(\w+)\}/g, ':$1')),
    HttpCode(route.successStatus),
    RouteConfig({ maxBodyBytes: route.maxBodyBytes, hasFileBody: route.hasFileBody }),
  ) as MethodDecorator;
  return (target, property, descriptor) => {
    const handler = descriptor.value as unknown as Handler;
    const answering = answeringBy(handler, served);
    for (const key of Reflect.getMetadataKeys(handler) as unknown[])
      Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), answering);
    descriptor.value = answering as never;
    OwnContext()(target, property, contextAt);
    declare(target, property, descriptor);
  };
}

/** Injects the context of the request behind all parameters of the method. */
const OwnContext = createParamDecorator((_: unknown, context: ExecutionContext) => context);
const contextAt = 15;

/** A parameter that is read when the work of its request begins. */
export class ReadLater {
  constructor(readonly read: () => unknown) {}
}

/** The method that reads the parameters, runs `handler` and encodes its response. */
function answeringBy(handler: Handler, route: Route): Handler {
  return function answer(this: unknown, ...parameters: unknown[]) {
    const context = parameters[contextAt] as ExecutionContext | undefined;
    // Another method of the controller calls it: as itself.
    if (context === undefined) return handler.apply(this, parameters);
    const http = context.switchToHttp();
    const work = async () => {
      refuseUnknownParameters(route, http.getRequest<FastifyRequest>().query as Query);
      const read = parameters.map((one) => (one instanceof ReadLater ? one.read() : one));
      const result = await handler.apply(this, read.slice(0, contextAt));
      return bodyOf(route, result, http.getResponse<FastifyReply>());
    };
    const runner = runners.get(http.getRequest<FastifyRequest>().server.server);
    return runner ? runner(context, route, work) : work();
  };
}

/** Runs the work of a request: it reads the parameters, handles and encodes. */
export type RequestRunner = (
  context: ExecutionContext,
  route: Route,
  work: () => Promise<unknown>,
) => Promise<unknown>;

const runners = new WeakMap<object, RequestRunner>();

/** Sets how an application runs the requests of its contract routes, such as within limits. */
export function runRequestsBy({ server }: FastifyInstance, runner: RequestRunner): void {
  runners.set(server, runner);
}

/** The route that a handler serves; undefined for a handler without `@Handles()`. */
export function routeOf(handler: object): Route | undefined {
  return Reflect.getMetadata(routeKey, handler) as Route | undefined;
}

/**
 * Injects the decoded request of the route. Throws `validation_failed` with each wrong field by its
 * JSON path.
 */
export const Input = createParamDecorator(
  (_: unknown, context: ExecutionContext) => new ReadLater(() => inputOf(context)),
);

/**
 * A response with its own status, headers or bytes, which the route's response schema does not
 * encode.
 */
export class Reply {
  constructor(
    readonly status: number,
    readonly body: string | Uint8Array,
    readonly headers: Record<string, string> = {},
  ) {}
}

/**
 * A response that is produced while it is sent, as fast as the client reads it. It ends when the
 * client disconnects. When it fails, the connection is cut, so that a partial response never looks
 * complete.
 */
export class StreamedReply {
  constructor(
    readonly body: Readable,
    readonly headers: Record<string, string>,
  ) {}
}

/** What is sent, after its status and headers are set. */
function bodyOf(route: Route, result: unknown, reply: FastifyReply) {
  void reply.header('content-type', 'application/json; charset=utf-8');
  if (result instanceof StreamedReply) {
    void reply.headers(result.headers);
    return result.body;
  }
  if (!(result instanceof Reply)) return stringifyJson(z.encode(route.response, result));
  void reply.status(result.status).headers(result.headers);
  return result.body;
}

/**
 * The decoded request. The error of the idempotency key comes first in `errors`. `refused` are
 * departures from the contract's form that the application does not take.
 */
export function inputOf(
  context: ExecutionContext,
  refused: readonly Departure[] = [],
): RouteInput<Route> {
  const route = routeOf(context.getHandler());
  invariant(route, '@Input() needs a method with @Handles()');
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const issues: FieldErrors = {};
  const idempotencyKey = readIdempotencyKey(route, request, issues);
  refuseDots(request.params as Record<string, string>, issues);
  const params = decode(route.params, request.params, issues);
  const sent = (request.query ?? {}) as Query;
  const plain = route.refusesUnknown ? sent : withPlainNames(sent);
  const query = decode(route.query, plain, issues);
  const given = readBody(route, request);
  const { request: meant, departures } = route.readsLeniently
    ? readLeniently(route.body, given)
    : { request: given, departures: new Set<Departure>() };
  const body = decode(route.body, meant, issues, route.refusesUnknown);
  for (const one of refused)
    if (departures.has(one)) (issues.$ ??= []).push(`Must have the contract's form: ${one}.`);
  if (Object.keys(issues).length > 0) throw new AppError('validation_failed', { errors: issues });
  return { params, query, body, idempotencyKey } as RouteInput<Route>;
}

type Query = Record<string, string | string[]>;

/** A part of a path that is only dots leads out of it. */
function refuseDots(params: Record<string, string>, issues: FieldErrors): void {
  for (const [name, value] of Object.entries(params))
    if (/^\.+$/.test(value)) issues[`$.${name}`] = ['Must not be dots alone.'];
}

/** Also of handlers that take none of them. Throws `validation_failed`. */
function refuseUnknownParameters({ query, refusesUnknown }: Route, sent: Query = {}): void {
  if (!refusesUnknown || !(query instanceof z.ZodObject)) return;
  const known = Object.keys(query.shape);
  const unknown = Object.keys(sent).filter((name) => !known.includes(name));
  refuseInvalid(Object.fromEntries(unknown.map((name) => [`$.${name}`, [unknownMessage(known)]])));
}

/** Clients write lists as `type[]=` or `type[0]=`, too. */
function withPlainNames(sent: Query): Query {
  const query: Query = {};
  for (const [name, value] of Object.entries(sent)) {
    const plain = name.replace(/\[\d{0,3}\]$/, '');
    const before = Object.hasOwn(query, plain) ? query[plain] : undefined;
    query[plain] = before === undefined ? value : [before, value].flat();
  }
  return query;
}

function unknownMessage(known: readonly string[]): string {
  return known.length > 0 ? `Is not known. Known are ${known.join(', ')}.` : 'Is not known.';
}

/**
 * Returns the decoded value, or undefined. Validation messages are added to `issues` by JSON path,
 * with `refusesUnknown` also those of fields that the schema would leave out.
 */
export function decode(
  schema: z.ZodType,
  value: unknown,
  issues: FieldErrors,
  refusesUnknown = false,
): unknown {
  const result = z.safeDecode(schema, value as never, readingFields);
  const unknown = refusesUnknown ? findUnknownFields(schema, value) : [];
  const add = (path: readonly PropertyKey[], error: FieldError) =>
    (issues[jsonPath(path)] ??= []).push(error);
  if (result.success)
    for (const path of findNumbersReadAsObjects(result.data)) add(path, fieldError('object'));
  for (const issue of result.error?.issues ?? [])
    if (!isAmong(unknown, issue)) add(issue.path, fieldErrorOf(issue));
  for (const { path, known } of unknown) add(path, unknownMessage(known));
  return result.success ? result.data : undefined;
}

/** Whether an issue of the schema says no more than the messages of unknown fields. */
function isAmong(unknown: readonly UnknownField[], issue: z.core.$ZodIssue): boolean {
  if (issue.code !== 'unrecognized_keys') return false;
  const paths = new Set(unknown.map(({ path }) => jsonPath(path)));
  return issue.keys.every((key) => paths.has(jsonPath([...issue.path, key])));
}

/**
 * Paths at which an object schema accepted a number. A `LosslessNumber` is an object in JavaScript,
 * so such a schema copies its fields into a plain object.
 */
function findNumbersReadAsObjects(value: unknown, path: PropertyKey[] = []): PropertyKey[][] {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return [];
  if ('isLosslessNumber' in value) return [path];
  return Object.entries(value).flatMap(([key, part]) =>
    findNumbersReadAsObjects(part, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}

function jsonPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => text + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`),
    '$',
  );
}

function readIdempotencyKey(
  route: Route,
  request: FastifyRequest,
  issues: FieldErrors,
): string | null {
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
  return normalizeKey(key);
}

const jsonMediaTypes = /^(application\/(json|[\w.+-]+\+json)|text\/json)\b/i;

function readBody(route: Route, request: FastifyRequest): unknown {
  // A route without a body ignores a body that a client sends anyway, which is mostly an empty
  // object.
  if (route.body instanceof z.ZodUndefined) return undefined;
  const bytes = request.body;
  const isEmpty = !(bytes instanceof Uint8Array) || bytes.length === 0;
  if (isEmpty && route.body instanceof z.ZodOptional) return undefined;
  if (isEmpty) throw invalidField('$', 'A body is required.');
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && !jsonMediaTypes.test(contentType))
    throw new AppError('unsupported_media_type', { public: 'The body must be JSON.' });
  return parseJson(bytes, requestBodyJson);
}
