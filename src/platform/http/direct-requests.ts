// Serves requests of one route without Fastify and Nest, whose work for a request costs more than
// that of the route. Limits, errors, trace ids and metrics are those of the other routes. A request
// that the route does not take goes the ordinary way, unread.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { errorResponse } from './error.filter.js';
import { countRequest } from './http-metrics.js';
import { findHostError } from './http.js';
import type { Log } from '../log.js';
import { readBytes } from './request-body.js';
import { runWithTrace, traceIdFrom } from '../trace.js';

export interface DirectRoute {
  /** Its template, as the other routes have it. */
  route: string;
  maxBodyBytes: number;
  /** What to do with the body of a request; null for one that goes the ordinary way. */
  admit: (request: IncomingMessage) => ((body: Buffer) => Promise<void>) | null;
  /** The body of the response, in JSON. */
  response: string;
  log: Log;
}

/** Serves the POST requests that the route takes, before anything else of the server sees them. */
export function serveDirectly(server: Server, direct: DirectRoute): void {
  const ordinary = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const isTaken = request.method === 'POST' && isPlain(request, direct.maxBodyBytes);
    const work = isTaken ? direct.admit(request) : null;
    if (work) serve(direct, { request, response, work });
    else for (const listener of ordinary) listener.call(server, request, response);
  });
}

/** What is refused or has a content coding takes the ordinary way. */
function isPlain(request: IncomingMessage, maxBodyBytes: number): boolean {
  const { 'content-length': length, 'content-encoding': coding } = request.headers;
  if (length === undefined || Number(length) > maxBodyBytes) return false;
  return coding === undefined && !findHostError(request);
}

interface DirectRequest {
  request: IncomingMessage;
  response: ServerResponse;
  work: (body: Buffer) => Promise<void>;
}

function serve(direct: DirectRoute, { request, response, work }: DirectRequest): void {
  const startedAtMs = performance.now();
  const traceId = traceIdFrom(request.headers.traceparent as string | undefined);
  response.on('close', () => {
    const status = response.writableFinished ? String(response.statusCode) : 'aborted';
    countRequest('POST', direct.route, status, (performance.now() - startedAtMs) / 1_000);
  });
  const fail = (error: unknown) => {
    const address = request.socket.remoteAddress;
    runWithTrace(traceId, () => sendError(direct.log, { response, traceId, error }), address);
  };
  readBytes(request, direct.maxBodyBytes, (error, body) => {
    if (error || !body) fail(error);
    else work(body).then(() => sendSuccess(direct, response, traceId), fail);
  });
}

function sendSuccess(direct: DirectRoute, response: ServerResponse, traceId: string): void {
  response.writeHead(200, {
    'x-trace-id': traceId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': direct.response.length,
  });
  response.end(direct.response);
}

function sendError(
  log: Log,
  { response, traceId, error }: { response: ServerResponse; traceId: string; error: unknown },
): void {
  const { status, headers, body } = errorResponse(error, traceId, log);
  response.writeHead(status, {
    ...headers,
    'x-trace-id': traceId,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
