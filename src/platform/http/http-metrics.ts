// Counts and times the requests of the service by route, and records a span for each. A route is
// its template, so that no id of a path becomes a label; what no route serves is one value.
import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Log } from '../log.js';
import { counter, histogram } from '../metrics/instruments.js';
import { Settings } from '../settings/config.js';
import { areSpansRecorded, beginSpan, runInSpan, type OpenSpan } from '../trace.js';
import { isForOperators } from './health.js';

const unknownRoute = 'unknown';
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other'] as const;
type Method = (typeof methods)[number];
const labels = { method: methods, route: /^(unknown|\/[\w./:*-]*)$/ };

const requests = counter({
  name: 'concilia_http_requests_total',
  help: 'Requests by route and status of the response; aborted: the client did not wait for it.',
  labels: { ...labels, status: /^([1-5]\d\d|aborted)$/ },
});
const durations = histogram({
  name: 'concilia_http_request_duration_seconds',
  help: 'Time from the headers of a request to the end of its response, by route.',
  labels,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

function labelsOf({ method, routeOptions }: FastifyRequest) {
  return { method: methodOf(method), route: routeOptions.url ?? unknownRoute };
}

function methodOf(text: string): Method {
  return methods.find((method) => method === text) ?? 'other';
}

/** Null for health checks too: they are no work of anybody's. */
function beginRequestSpan(request: FastifyRequest): OpenSpan | null {
  if (!areSpansRecorded() || isForOperators(request)) return null;
  const { method, route } = labelsOf(request);
  const span = beginSpan(`${method} ${route}`, 'SERVER', request.headers.traceparent as string);
  span?.set({ 'http.request.method': method, 'http.route': route });
  return span;
}

function endRequestSpan(span: OpenSpan, { writableFinished, statusCode }: ServerResponse): void {
  span.set({ 'http.response.status_code': statusCode });
  if (!writableFinished) span.end({ code: 'aborted' });
  else span.end(statusCode < 500 ? undefined : { code: String(statusCode) });
}

@Injectable()
export class HttpMetrics implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<FastifyAdapter>,
    private readonly settings: Settings,
    private readonly log: Log,
  ) {}

  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance();
    server.addHook('onResponse', (request, reply, done) => {
      const of = labelsOf(request);
      requests.inc({ ...of, status: String(reply.statusCode) });
      durations.observe(of, reply.elapsedTime / 1_000);
      this.logAccess(request, reply, reply.statusCode);
      done();
    });
    // Of a response that is cut off, Fastify reports no end.
    server.addHook('onRequest', (request, reply, done) => {
      const { raw } = reply;
      const span = beginRequestSpan(request);
      if (span) raw.once('close', () => endRequestSpan(span, raw));
      const countAborted = () => {
        if (raw.writableFinished) return;
        requests.inc({ ...labelsOf(request), status: 'aborted' });
        this.logAccess(request, reply, 'aborted');
      };
      if (raw.closed) countAborted();
      else raw.once('close', countAborted);
      if (span) runInSpan(span, done);
      else done();
    });
  }

  /** The route, not the path: ids and keys in paths and queries may be personal data. */
  private logAccess(request: FastifyRequest, reply: FastifyReply, status: number | 'aborted') {
    if (!this.settings.log.hasAccess) return;
    const traceId = reply.getHeader('x-trace-id');
    const durationMs = Math.round(reply.elapsedTime);
    this.log.info({ traceId, ...labelsOf(request), status, durationMs }, 'request');
  }
}
