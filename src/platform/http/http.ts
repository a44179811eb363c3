// Builds an HTTP application: Nest on Fastify, with raw bodies, the contract's error bodies and a
// trace id for each request. The service and the sandbox bank are two such applications.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { buildErrorBody } from '../../bank-contract/errors.js';
import type { TrustedProxies } from '../settings/request-limit-settings.js';
import { addressOf, trustProxyOption } from './client-address.js';
import { defaultMaxBodyBytes } from '../../bank-contract/route.js';
import { Health } from './health.js';
import { ErrorFilter, errorContentType } from './error.filter.js';
import { invalidField } from '../errors.js';
import { NestLog, type Log } from '../log.js';
import { serveApiReference, type ApiReferenceOptions } from './api-reference.js';
import { readBodiesAsBytes } from './request-body.js';
import { newTraceId, runWithTrace, traceIdFrom } from '../trace.js';

/**
 * Base URLs of the bank and of this service, without a slash at their end. They are set at start: a
 * port of the embedded sandbox bank or of the service may be known only once it listens.
 */
export class Addresses {
  bankBaseUrl = '';
  /** For calls with the partner key. */
  bankWhitelabelUrl = '';
  /** The URL at which the bank reaches this service. */
  publicUrl = '';
  /** Ports at which this process, its databases or the sandbox bank listen. */
  readonly ownPorts = new Set<number>();
}

export interface HttpApplicationOptions {
  log: Log;
  /** What the API reference at /docs is about. */
  reference: ApiReferenceOptions;
  /** Whose `X-Forwarded-For` is believed. Nobody's by default. */
  trustedProxies?: TrustedProxies;
}

/** Creates the application. It does not listen yet. */
export async function createHttpApplication(
  module: object,
  { log, reference, trustedProxies = 0 }: HttpApplicationOptions,
): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    bodyLimit: defaultMaxBodyBytes,
    routerOptions: { maxParamLength: 500 },
    forceCloseConnections: 'idle',
    // Requests are served until their connection closes.
    return503OnClosing: false,
    // A client that sends its request slowly must not hold a connection for ever.
    requestTimeout: 30_000,
    connectionTimeout: 60_000,
    trustProxy: trustProxyOption(trustedProxies),
    // Node.js itself would answer without the error body, and accept two of them.
    http: { requireHostHeader: false },
    frameworkErrors: respondToBadRequest,
    clientErrorHandler: respondToBadConnection,
  });
  const server = adapter.getInstance();
  readBodiesAsBytes(server);
  closeSilentConnections(server);
  server.addHook('onRequest', (request, reply, done) => {
    const traceId = traceIdFrom(request.headers.traceparent as string | undefined);
    void reply.header('x-trace-id', traceId);
    runWithTrace(traceId, () => done(findHostError(request.raw)), addressOf(request));
  });
  const application = await NestFactory.create<NestFastifyApplication>(module as never, adapter, {
    bodyParser: false,
    logger: new NestLog(log),
    abortOnError: false,
  });
  const health = application.get(Health);
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (health.isStopping) void reply.header('connection', 'close');
    done(null, payload);
  });
  application.useGlobalFilters(new ErrorFilter(log));
  serveApiReference(application, reference);
  return application;
}

/** A client may have sent its first request just before the server stops to accept connections. */
const firstRequestMs = 1_000;

/** Node.js closes idle connections with its server, but waits for those without any request. */
function closeSilentConnections(server: FastifyInstance): void {
  const silent = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.server.on('request', ({ socket }: IncomingMessage) => silent.delete(socket));
  server.addHook('preClose', (done) => {
    setTimeout(() => silent.forEach((socket) => socket.destroy()), firstRequestMs).unref();
    done();
  });
}

/**
 * A proxy and this process could each read another one of two `Host` headers. HTTP/1.0 has none, so
 * that health checks may do without.
 */
function findHostError({ rawHeaders, httpVersion }: IncomingMessage): Error | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') count += 1;
  if (count === 1 || (count === 0 && httpVersion === '1.0')) return undefined;
  return invalidField('Host', 'The header Host is required once.');
}

/**
 * Sends the contract's error body for a URL that Fastify cannot route. Such a request reaches no
 * handler and no filter.
 */
function respondToBadRequest(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const status = error.statusCode ?? 400;
  const traceId = traceIdFrom(request.headers.traceparent as string | undefined);
  void reply
    .status(status)
    .headers({ 'content-type': errorContentType, 'x-trace-id': traceId })
    .send(JSON.stringify(buildErrorBody(status, traceId)));
}

const clientErrorStatuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Writes the error to the socket: the input is not HTTP or came too slowly, so there is no request
 * object.
 */
function respondToBadConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = clientErrorStatuses[error.code ?? ''] ?? 400;
  const traceId = newTraceId();
  const body = JSON.stringify(buildErrorBody(status, traceId));
  socket.end(
    `HTTP/1.1 ${status} Refused\r\ncontent-type: ${errorContentType}\r\n` +
      `x-trace-id: ${traceId}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
