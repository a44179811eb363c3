// The header `Retry-After`, in refusals of the service, and as the bank and the receivers of events
// send it.
import type { ErrorCode } from '../../bank-contract/error-codes.js';
import { AppError } from '../errors.js';

/** The refusal above any limit. Nothing was done: the same request can be sent again. */
export function tooMany(
  message: string | undefined,
  retryAfterSeconds: number,
  reason?: ErrorCode,
): AppError {
  return new AppError('rate_limited', {
    ...(message === undefined ? {} : { public: message }),
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
    ...(reason === undefined ? {} : { reason }),
  });
}

// The beginning and end of HTTP's three date formats. Date.parse alone accepts nearly every text
// with a number in it.
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .* GMT$/;

/**
 * Reads `Retry-After` (seconds or an HTTP date) in seconds. Null for any other text and for a date
 * in the past. `now` is the sender's time; while it is unknown, a date means nothing.
 */
export function readRetryAfter(header: unknown, now: Date | null): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  if (now === null) return null;
  const at = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) || at <= now.getTime() ? null : Math.ceil((at - now.getTime()) / 1_000);
}
