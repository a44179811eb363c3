// What a call throws. `instanceof ConciliaError` holds for each of them.
import type { CodedError } from './generated/types.gen.js';

/** The codes of the reference; a newer service may have others. */
export type ErrorCode = NonNullable<CodedError['code']> | (string & {});

export abstract class ConciliaError extends Error {
  /** The operationId of the reference. */
  readonly operation: string;

  constructor(operation: string, message: string, cause?: unknown) {
    super(`${operation}: ${message}`, { cause });
    this.name = new.target.name;
    this.operation = operation;
  }
}

/** The service refused the request, or could not do it. Of a change: nothing was done. */
export class ApiError extends ConciliaError {
  readonly status: number;
  readonly code: ErrorCode | undefined;
  /** Names the request in the service's logs. */
  readonly traceId: string | undefined;
  /** Messages by JSON path. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** The operation that a possible duplicate is one of. */
  readonly location: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(operation: string, response: Response, body: Partial<CodedError>) {
    super(operation, `${response.status} ${body.title ?? response.statusText}`.trim());
    this.status = response.status;
    this.code = body.code;
    this.traceId = body.traceId ?? response.headers.get('x-trace-id') ?? undefined;
    this.errors = body.errors ?? {};
    this.location = response.headers.get('location') ?? undefined;
    const seconds = response.headers.get('retry-after') ?? '';
    this.retryAfterSeconds = /^\d{1,9}$/.test(seconds) ? Number(seconds) : undefined;
  }
}

/** There was no response, and nothing was changed: the request reads, or was never sent. */
export class ConnectionError extends ConciliaError {}

/**
 * Whether the change was made is unknown: it is not failed. Repeat the call with this
 * `idempotencyKey`, also after hours or from another process; it changes nothing twice. Without a
 * key, read what became of it.
 */
export class OutcomeUnknownError extends ConciliaError {
  readonly idempotencyKey: string | undefined;

  constructor(operation: string, idempotencyKey: string | undefined, cause: unknown) {
    const repeat = idempotencyKey ? ` Repeat it with the key ${idempotencyKey}.` : '';
    super(operation, `the outcome is unknown.${repeat}`, cause);
    this.idempotencyKey = idempotencyKey;
  }
}

/** A webhook was not signed with any of the secrets, or not within five minutes. */
export class SignatureError extends ConciliaError {
  constructor(cause: unknown) {
    super('constructEvent', cause instanceof Error ? cause.message : String(cause), cause);
  }
}
