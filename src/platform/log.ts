// Structured logs on stdout, one JSON object a line, each with the trace id of the work it tells of.
// Secrets and personal data never reach a log: bodies and headers are not logged, and the names below are
// blotted out wherever they stand, should somebody log an object that holds them.
import type { LoggerService } from '@nestjs/common';
import { pino, type LogFn } from 'pino';
import { currentTraceId } from './trace.js';

const secretNames = [
  'authorization',
  'apiKey',
  'partnerKey',
  'secret',
  'password',
  'securityPassword',
  'codeVerification',
  'document',
  'email',
  'phone',
  'pixKey',
  'payer',
  'beneficiary',
  'body',
  'headers',
];

/** The log, as it is injected; pino is what stands behind it. */
export abstract class Log {
  abstract trace: LogFn;
  abstract debug: LogFn;
  abstract info: LogFn;
  abstract warn: LogFn;
  abstract error: LogFn;
  abstract fatal: LogFn;
}

export function createLog(level: string, name: string): Log {
  return pino({
    name,
    level,
    base: { pid: process.pid },
    mixin: () => {
      const traceId = currentTraceId();
      return traceId ? { traceId } : {};
    },
    redact: {
      paths: secretNames.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
      censor: '[redacted]',
    },
    serializers: { err: describeError, error: describeError },
    timestamp: pino.stdTimeFunctions.isoTime,
  });
}

/** An error without the objects that libraries hang on it (axios keeps the whole request and its headers). */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    stack: error.stack,
    ...(error.cause ? { cause: describeError(error.cause) } : {}),
  };
}

/** Nest's own messages, through the same log; its start-up chatter is for debugging. */
export class NestLog implements LoggerService {
  constructor(private readonly target: Log) {}

  log(message: unknown, ...rest: unknown[]) {
    this.target.debug(contextOf(rest), String(message));
  }

  debug(message: unknown, ...rest: unknown[]) {
    this.target.debug(contextOf(rest), String(message));
  }

  verbose(message: unknown, ...rest: unknown[]) {
    this.target.trace(contextOf(rest), String(message));
  }

  warn(message: unknown, ...rest: unknown[]) {
    this.target.warn(contextOf(rest), String(message));
  }

  error(message: unknown, ...rest: unknown[]) {
    if (message instanceof Error) this.target.error({ ...contextOf(rest), err: message });
    else this.target.error(contextOf(rest), String(message));
  }

  fatal(message: unknown, ...rest: unknown[]) {
    this.target.fatal(contextOf(rest), String(message));
  }
}

function contextOf(rest: unknown[]): { context?: string } {
  const last = rest.at(-1);
  return typeof last === 'string' && !last.includes('\n') ? { context: last } : {};
}
