// Turns every error into the contract's error body with the request's trace id. Errors with a
// status of 500 or more are logged here, once, without bodies or headers.
import { ArgumentsHost, Catch, HttpException, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { fieldMessages } from '../../bank-contract/field-errors.js';
import { buildErrorBody } from '../../bank-contract/errors.js';
import { isDatabaseUnavailable } from '../postgres/database-errors.js';
import { AppError, type FaultDetails } from '../errors.js';
import { Log } from '../log.js';
import { currentTraceId, newTraceId } from '../trace.js';

export const errorContentType = 'application/problem+json; charset=utf-8';

/** A request that was sent to the bank before has its key, so that a repeat is safe. */
const databaseAway: FaultDetails = {
  public: 'The database is not available. Repeat the request with the same IdempotencyKey.',
  headers: { 'Retry-After': '1' },
};

@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const traceId = currentTraceId() ?? newTraceId();
    const { status, headers, body } = errorResponse(error, traceId, this.log);
    void reply.status(status).headers(headers).send(body);
  }
}

export interface ErrorResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The response to a request that failed. Logs the error if it is not the caller's. */
export function errorResponse(error: unknown, traceId: string, log: Log): ErrorResponse {
  const { status, details, code } = describe(error, log);
  const title = details.public;
  const body = buildErrorBody(status, traceId, {
    ...(title ? { title } : {}),
    ...(details.errors ? { errors: fieldMessages(details.errors) } : {}),
    ...(hasCode(status, details) ? { code: details.reason ?? code } : {}),
  });
  const headers = { ...details.headers, 'content-type': errorContentType };
  return { status, headers, body: JSON.stringify({ ...body, ...details.facts }) };
}

function describe(
  error: unknown,
  log: Log,
): { status: number; code: string; details: FaultDetails } {
  if (error instanceof AppError) {
    if (error.status >= 500 && error.code !== 'not_ready')
      log.warn({ err: error, code: error.code }, 'request failed');
    return { status: error.status, code: error.code, details: error.details };
  }
  const status = statusOf(error);
  if (status < 500) return { status, code: 'request_refused', details: {} };
  if (isDatabaseUnavailable(error)) {
    log.warn({ err: error, code: 'not_ready' }, 'request failed without the database');
    return { status: 503, code: 'not_ready', details: databaseAway };
  }
  log.error({ err: error }, 'request failed unexpectedly');
  return { status: 500, code: 'internal_error', details: {} };
}

/** Codes distinguish the errors of one status that a client handles in different ways. */
function hasCode(status: number, { reason }: FaultDetails): boolean {
  return [403, 409, 422, 429].includes(status) || reason !== undefined;
}

/**
 * The status of Nest's and Fastify's own errors (unknown route, body too large); 500 for any other
 * error.
 */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : 500;
}
