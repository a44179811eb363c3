// Structured logs on stdout: one JSON object a line, with the trace id of the current work. Secrets
// and personal data never reach a log: bodies and headers are not logged, and fields with the names
// below are redacted.
import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type LogFn, type LoggerOptions } from 'pino';
import { failureKindOf, RepeatedLines } from './repeated-lines.js';
import { currentTrace } from './trace.js';

/** Names of fields, in lower case, that are redacted at any depth of a logged object. */
const secretNames = new Set(
  [
    ...[
      'authorization',
      'headers',
      'cookie',
      'config',
      'x-service-api-key',
      'x-service-partner-key',
      'x-service-admin-key',
    ],
    ...['credentials', 'clientKey', 'clientCertificate', 'accountHeader'],
    ...[
      'apiKey',
      'partnerKey',
      'adminKey',
      'credentialsKey',
      'otherCredentialsKeys',
      'secret',
      'webhookSecret',
      'token',
    ],
    ...['idempotencyKey', 'password', 'securityPassword', 'codeVerification', 'tokenNotification'],
    ...['document', 'holderDocument', 'email', 'phone', 'name', 'fatherName', 'motherName'],
    ...['taxId', 'counterparty', 'counterpartyName', 'counterpartyDocument', 'notes'],
    ...[
      'holderName',
      'holderTaxId',
      'birthDate',
      'address',
      'payer',
      'payee',
      'beneficiary',
      'finalBeneficiary',
      'holder',
    ],
    ...['key', 'pixKey', 'payloadPix', 'qrCode', 'body', 'requestBody', 'responseBody', 'content'],
  ].map((name) => name.toLowerCase()),
);
const maxDepth = 6;

/**
 * A copy of a value for the log: errors without their additional fields, and redacted secret
 * fields.
 */
function redact(value: unknown, depth = 0): unknown {
  if (value instanceof Error) return describeError(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maxDepth) return '[deeper]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      secretNames.has(name.toLowerCase()) ? '[redacted]' : redact(field, depth + 1),
    ]),
  );
}

/** The injected log. Pino implements it. */
export abstract class Log {
  abstract trace: LogFn;
  abstract debug: LogFn;
  abstract info: LogFn;
  abstract warn: LogFn;
  abstract error: LogFn;
  abstract fatal: LogFn;
}

const [warnLevel, errorLevel] = [40, 50];

/**
 * Warnings and errors that repeat are counted. Not errors of a request, which are faults of ours:
 * its caller knows its trace id.
 */
function countRepeats(): NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> {
  const repeated = new RepeatedLines();
  return function (given, write, level) {
    const [first, second] = given as unknown[];
    const isOfRequest = currentTrace().clientAddress !== undefined;
    if (level < warnLevel || (level >= errorLevel && isOfRequest)) return write.apply(this, given);
    const fields = first instanceof Error ? { err: first } : typeof first === 'object' ? first : {};
    const message = [first, second].find((text) => typeof text === 'string') ?? '';
    const writeCount = (repeats: number) => write.apply(this, [{ ...fields, repeats }, message]);
    if (repeated.admit(failureKindOf(level, fields ?? {}, message), writeCount))
      write.apply(this, given);
  };
}

/** To stdout, or to another destination. */
export function createLog(level: string, name: string, destination?: DestinationStream): Log {
  const options: LoggerOptions = {
    name,
    level,
    base: { pid: process.pid },
    mixin: () => ({ ...currentTrace() }),
    // `redact` has already described the error: pino's own serializer would change that
    // description.
    serializers: { err: (described: object) => described },
    formatters: { log: (fields) => redact(fields) as Record<string, unknown> },
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { logMethod: countRepeats() },
  };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * An error without the fields that libraries add to it: axios adds the whole request with its
 * headers.
 */
export function describeError(error: unknown, depth = 0): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    stack: error.stack,
    ...(error.cause && depth < maxDepth ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}

/** Writes Nest's own messages to the log. Its start-up messages have level `debug`. */
export class NestLog implements LoggerService {
  readonly log = this.writerOf('debug');
  readonly debug = this.writerOf('debug');
  readonly verbose = this.writerOf('trace');
  readonly warn = this.writerOf('warn');
  readonly error = this.writerOf('error');
  readonly fatal = this.writerOf('fatal');

  constructor(private readonly target: Log) {}

  private writerOf(level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal') {
    return (message: unknown, ...rest: unknown[]) => {
      const last = rest.at(-1);
      const context = typeof last === 'string' && !last.includes('\n') ? { context: last } : {};
      if (message instanceof Error) this.target[level]({ ...context, err: message });
      else this.target[level](context, String(message));
    };
  }
}
