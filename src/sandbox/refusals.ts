// The errors by which the bank refuses a well-formed request.
import { AppError } from '../platform/errors.js';

/** 422: a rule of the bank forbids the request. `reason` is the `code` of the response. */
export function ruleBroken(reason: string, text: string, cause?: unknown): AppError {
  return new AppError('rule_broken', { public: text, reason, cause });
}

export function insufficientFunds(): AppError {
  return ruleBroken('insufficient_funds', 'The balance of the account is not sufficient.');
}

/** 409: the request contradicts what is stored. */
export function conflict(reason: string, text: string, cause?: unknown): AppError {
  return new AppError('conflict', { public: text, reason, cause });
}

/** Throws `validation_failed` unless `errors`, messages by JSON path, is empty. */
export function refuseInvalid(errors: Record<string, string[]>): void {
  if (Object.keys(errors).length > 0) throw new AppError('validation_failed', { errors });
}
