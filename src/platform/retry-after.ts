// How long a server asks to be left alone.

// Any of HTTP's three forms; JavaScript finds a date in nearly every text that has a number.
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .* GMT$/;

/** Reads Retry-After: seconds or an HTTP date; null for anything else, and for what is past. */
export function readRetryAfter(header: unknown, now: Date): number | null {
  if (typeof header !== 'string') return null;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = httpDate.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) || at <= now.getTime() ? null : Math.ceil((at - now.getTime()) / 1_000);
}
