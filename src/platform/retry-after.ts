// The `Retry-After` header of HTTP responses.

// The beginning and end of HTTP's three date formats. Date.parse alone accepts nearly every text
// with a number in it.
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .* GMT$/;

/**
 * Reads `Retry-After` (seconds or an HTTP date) in seconds. Null for any other text and for a date
 * in the past.
 */
export function readRetryAfter(header: unknown, now: Date): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) || at <= now.getTime() ? null : Math.ceil((at - now.getTime()) / 1_000);
}
