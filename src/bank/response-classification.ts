// Classifies a response of the bank. The rule of the whole service: a success must be a 2xx that
// can be read and echoes the request, a rejection must be a readable 4xx of the bank, and all else
// is unknown, never failed.
import { z } from 'zod';
import type { AccountMode } from '../access/accounts/account-mode.js';
import type { Route } from '../bank-contract/route.js';
import {
  decodeUtf8,
  isJsonObject,
  parseJson,
  strictJson,
  tolerantJson,
} from '../platform/json/exact-json.js';
import type { JsonParseOptions } from '../platform/json/json-reader.js';

export interface RawResponse {
  status: number;
  body: Buffer;
  date: Date | null;
  /** The wait that the bank requested. */
  retryAfterMs?: number;
}

export type BankResponse<Value> =
  | { outcome: 'success'; status: number; text: string; value: Value; date: Date | null }
  | { outcome: 'rejection'; status: number; text: string }
  | {
      outcome: 'unknown';
      reason: UnknownReason;
      /** Null where no status was received. */
      status: number | null;
      /** The wait that the bank requested, or that the service's own limits require. */
      retryAfterMs?: number;
      /** Whether the cause is a limit on the number of calls, the bank's or the service's own. */
      isLimited?: boolean;
      /** The mode of the account, where it is the cause that nothing was sent. */
      withheldIn?: AccountMode;
      /** The body, where it is JSON. */
      text?: string;
    };

export type UnknownOutcome = Extract<BankResponse<never>, { outcome: 'unknown' }>;

export const unknownReasons = [
  /** No byte was sent: nothing can have happened. */
  'not_sent',
  'no_response',
  'too_late',
  'unreadable_response',
  'unexpected_response',
  'redirected',
  'refused_for_now',
  'bank_error',
] as const;
export type UnknownReason = (typeof unknownReasons)[number];

/**
 * The best that a status can mean. A success needs a body that validates and echoes the request,
 * and a rejection needs a body that is a JSON object; otherwise each is unknown.
 */
type StatusMeaning = 'success' | 'rejection' | UnknownReason;

/** The bank did not decide on the request, or the cause is not in the request. */
const refusalsForNow = [401, 403, 408, 409, 425, 429];

function meaningOf(status: number): StatusMeaning {
  // The bank may have failed after the effect.
  if (status >= 500) return 'bank_error';
  if (status >= 400) return refusalsForNow.includes(status) ? 'refused_for_now' : 'rejection';
  // Not followed: another address proves nothing about the effect at this one.
  if (status >= 300) return 'redirected';
  return status >= 200 ? 'success' : 'unexpected_response';
}

/** `echoes` returns whether a valid response carries the amount and the ids of the request. */
export function classifyResponse<R extends Route>(
  route: R,
  response: RawResponse,
  echoes: (value: z.output<R['response']>) => boolean,
): BankResponse<z.output<R['response']>> {
  const { status, retryAfterMs } = response;
  // One malformed line of a statement must not hide the other lines. Of any other response each
  // field must have one value.
  const options = route.response instanceof z.ZodArray ? tolerantJson : strictJson;
  const body =
    readJson(response.body, options) ??
    (route.mayRespondText && meaningOf(status) === 'success' ? readText(response.body) : null);
  const unknown = (reason: UnknownReason) => ({
    outcome: 'unknown' as const,
    reason,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === 429 ? { isLimited: true } : {}),
    ...(body ? { text: body.text } : {}),
  });
  const meaning = meaningOf(status);
  if (meaning !== 'success' && meaning !== 'rejection') return unknown(meaning);
  if (!body) return unknown('unreadable_response');
  if (meaning === 'rejection')
    return isJsonObject(body.json)
      ? { outcome: 'rejection', status, text: body.text }
      : unknown('unreadable_response');
  const decoded = z.safeDecode(route.response, body.json as never);
  if (!decoded.success) return unknown('unexpected_response');
  const value = decoded.data as z.output<R['response']>;
  if (!echoes(value)) return unknown('unexpected_response');
  return { outcome: 'success', status, text: body.text, value, date: response.date };
}

/** Text as a JSON string, and an empty body as null. */
function readText(body: Buffer): { json: unknown; text: string } {
  const json = body.length === 0 ? null : body.toString('utf8');
  return { json, text: JSON.stringify(json) };
}

/** Null where the body cannot be read: the caller classifies it as `unreadable_response`. */
function readJson(body: Buffer, options: JsonParseOptions): { json: unknown; text: string } | null {
  try {
    const text = decodeUtf8(body);
    return { json: parseJson(text, options), text };
  } catch {
    return null;
  }
}
