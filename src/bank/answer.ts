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
}

export type BankAnswer<Value> =
  | { outcome: 'success'; status: number; text: string; value: Value; date: Date | null }
  | { outcome: 'rejection'; status: number; text: string }
  | {
      outcome: 'unknown';
      reason: UnknownReason;
      status: number | null;
      /** How long the bank asked us to wait. */
      retryAfterMs?: number;
      /** What came, where it could be read as JSON. */
      text?: string;
    };

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

// These say that the bank did not look at the request, or not yet, or that ours was not the reason.
const notAVerdict = new Set([401, 403, 408, 409, 425, 429]);

/** Judges an answer by its route's response schema; `echoes` says whether it speaks of what we asked. */
export function judgeAnswer<R extends Route>(
  route: R,
  answer: RawAnswer,
  echoes: (value: z.output<R['response']>) => boolean,
): BankAnswer<z.output<R['response']>> {
  const { status } = answer;
  const read = readJson(answer.body, route.response instanceof z.ZodArray ? tolerant : strict);
  const unknown = (reason: UnknownReason) =>
    ({ outcome: 'unknown', reason, status, ...(read ? { text: read.text } : {}) }) as const;
  if (status >= 500) return unknown('bank_error');
  if (status >= 300 && status < 400) return unknown('redirected');
  if (notAVerdict.has(status)) return unknown('refused_for_now');
  if (!read) return unknown('unreadable_answer');
  if (status >= 400)
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
