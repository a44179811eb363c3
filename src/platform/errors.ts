// `AppError` is an error that ends a request. Its code decides the HTTP status. Outcomes that a
// caller handles are returned as values, and bugs fail an `invariant`.
import type { ErrorCode } from '../bank-contract/error-codes.js';
import type { FieldError, FieldErrors } from '../bank-contract/field-errors.js';

const faults = {
  validation_failed: 400,
  malformed_body: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  possible_duplicate: 409,
  gone: 410,
  body_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rule_broken: 422,
  rate_limited: 429,
  bank_unreachable: 502,
  bank_refused: 502,
  not_ready: 503,
  bank_timeout: 504,
} as const satisfies Record<string, number>;

export type FaultCode = keyof typeof faults;

/** A reason that is no code of ours: the bank's, or one that only pages of the console show. */
export type UnlistedReason = string & { readonly isUnlisted: true };
export const unlisted = (reason: string) => reason as UnlistedReason;

export interface FaultDetails {
  /** By JSON path, for the caller. */
  errors?: FieldErrors;
  /** A sentence for the caller, without secrets or personal data. */
  public?: string;
  /** The machine-readable `code` of the response. Defaults to the code of the AppError. */
  reason?: ErrorCode | UnlistedReason;
  /** A sentence for the log only, without secrets or personal data. */
  internal?: string;
  cause?: unknown;
  headers?: Record<string, string>;
  /** Further fields of the body, without secrets or personal data. */
  facts?: object;
}

/** The response has the status of the error's code and the contract's error body. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: FaultCode,
    readonly details: FaultDetails = {},
  ) {
    super(details.internal ?? details.public ?? code, { cause: details.cause });
  }

  get status(): number {
    return faults[this.code];
  }
}

/** The error of one wrong field of a request, by its JSON path. */
export function invalidField(path: string, error: FieldError): AppError {
  return new AppError('validation_failed', { errors: { [path]: [error] } });
}

/** Throws `validation_failed` unless `errors` is empty. */
export function refuseInvalid(errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) throw new AppError('validation_failed', { errors });
}

/** The error of a request that breaks a rule; `reason` is the `code` of the response. */
export function ruleBroken(
  reason: ErrorCode | UnlistedReason,
  message: string,
  cause?: unknown,
): AppError {
  return new AppError('rule_broken', { public: message, reason, cause });
}

/** The error of a request that does not fit the present state; `reason` is its code. */
export function conflict(
  reason: ErrorCode | UnlistedReason,
  message: string,
  cause?: unknown,
): AppError {
  return new AppError('conflict', { public: message, reason, cause });
}

/**
 * Throws when the condition is false. It is for conditions that no input can break: a failure is a
 * bug.
 */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

/** The default case of a switch over a union. It does not compile while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`Invariant broken: unexpected ${String(value)}`);
}
