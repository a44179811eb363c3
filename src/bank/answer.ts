// What an answer of the bank, or its absence, is worth. The rule of the whole service: a success must say so
// and be readable, a rejection must be the bank's own readable word, and all else is unknown, never failed.
import { z } from 'zod';
import type { Route } from '../contract/route.js';
import {
  isJsonObject,
  parseJson,
  strict,
  tolerant,
  type JsonReading,
} from '../platform/exact-json.js';

export interface RawAnswer {
  status: number;
  body: Buffer;
  date: Date | null;
  /** How long the bank asked us to wait. */
  retryAfterMs?: number;
}

export type BankAnswer<Value> =
  | { outcome: 'success'; status: number; text: string; value: Value; date: Date | null }
  | { outcome: 'rejection'; status: number; text: string }
  | {
      outcome: 'unknown';
      reason: UnknownReason;
      status: number | null;
      /** How long the bank asked us to wait, or we hold such calls back. */
      retryAfterMs?: number;
      /** Whether it is a limit on the number of calls, the bank's or our own, that holds it back. */
      isLimited?: boolean;
      /** What came, where it could be read as JSON. */
      text?: string;
    };

export type UnknownAnswer = Extract<BankAnswer<never>, { outcome: 'unknown' }>;

export type UnknownReason =
  /** No byte left us: nothing can have happened. */
  | 'not_sent'
  | 'no_answer'
  | 'too_late'
  | 'unreadable_answer'
  | 'unexpected_answer'
  | 'redirected'
  | 'refused_for_now'
  | 'bank_error';

/** What a status can say at best; the body must bear it out. */
type Claim = 'yes' | 'no' | UnknownReason;

/**
 * The whole table; the first row that fits counts. A yes becomes a success when the body validates and speaks of
 * what was asked, a no becomes a rejection when the body is a JSON object; otherwise each is unknown.
 */
const claims: readonly { from: number; to: number; only?: readonly number[]; claim: Claim }[] = [
  { from: 200, to: 299, claim: 'yes' },
  // Not followed: what stands elsewhere proves nothing of what happened here.
  { from: 300, to: 399, claim: 'redirected' },
  // The bank did not look at the request, or not yet, or ours was not the reason.
  { from: 400, to: 499, only: [401, 403, 408, 409, 425, 429], claim: 'refused_for_now' },
  { from: 400, to: 499, claim: 'no' },
  // It may have failed after its effect.
  { from: 500, to: Number.MAX_SAFE_INTEGER, claim: 'bank_error' },
];

function claimOf(status: number): Claim {
  const row = claims.find(
    ({ from, to, only }) => status >= from && status <= to && (only?.includes(status) ?? true),
  );
  return row?.claim ?? 'unexpected_answer';
}

/** Judges an answer by its route's response schema; `echoes` says whether it speaks of what we asked. */
export function classifyResponse<R extends Route>(
  route: R,
  answer: RawAnswer,
  echoes: (value: z.output<R['response']>) => boolean,
): BankAnswer<z.output<R['response']>> {
  const { status, retryAfterMs } = answer;
  const read = readJson(answer.body, route.response instanceof z.ZodArray ? tolerant : strict);
  const unknown = (reason: UnknownReason) => ({
    outcome: 'unknown' as const,
    reason,
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === 429 ? { isLimited: true } : {}),
    ...(read ? { text: read.text } : {}),
  });
  const claim = claimOf(status);
  if (claim !== 'yes' && claim !== 'no') return unknown(claim);
  if (!read) return unknown('unreadable_answer');
  if (claim === 'no')
    return isJsonObject(read.json)
      ? { outcome: 'rejection', status, text: read.text }
      : unknown('unreadable_answer');
  const decoded = z.safeDecode(route.response, read.json as never);
  if (!decoded.success) return unknown('unexpected_answer');
  const value = decoded.data as z.output<R['response']>;
  if (!echoes(value)) return unknown('unexpected_answer');
  return { outcome: 'success', status, text: read.text, value, date: answer.date };
}

// A statement's odd line must not hide its neighbours; of any other answer each field must say one thing.
function readJson(body: Buffer, reading: JsonReading): { json: unknown; text: string } | null {
  try {
    return { json: parseJson(body, reading), text: body.toString('utf8') };
  } catch {
    // What cannot be read is an answer of its own kind, told by the caller as `unreadable_answer`.
    return null;
  }
}
