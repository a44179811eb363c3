// Sends requests. A request that changes something has one key, however often it is sent; where no
// attempt has a conclusive response, its outcome is unknown, not failed.
import { ApiError, ConnectionError, OutcomeUnknownError } from './errors.js';
import { readJson, writeJson, type Place } from './exact-json.js';
import type { CodedError } from './generated/types.gen.js';
import { List, type Page } from './list.js';
import type { ConciliaOptions, File, OperationOptions } from './options.js';

/** An operation of the API reference. */
export interface Operation {
  id: string;
  method: string;
  caller: keyof typeof callers;
  /** Whether a repeat with the same IdempotencyKey changes nothing again. */
  isKeyed?: boolean;
  /** Whether the body is a file. */
  isUpload?: boolean;
  /** The type of a response that is no JSON. */
  accepts?: string;
  /** Where the amounts of the response stand, and those of the request. */
  reads?: Place;
  writes?: Place;
}

interface Sent {
  body?: unknown;
  query?: object | undefined;
  options?: OperationOptions | undefined;
}

const callers = {
  'api-key': ['x-service-api-key', 'apiKey'],
  'admin-key': ['x-service-admin-key', 'adminKey'],
  'partner-key': ['x-service-partner-key', 'partnerKey'],
} as const;

/** A request as all its attempts send it. */
interface Prepared {
  operation: Operation;
  url: URL;
  init: RequestInit;
  idempotencyKey: string | undefined;
  /** Whether it may be sent again when it is unknown what became of it. */
  isRepeatable: boolean;
  signal: AbortSignal | undefined;
  timeoutMs: number;
  maxAttempts: number;
}

/**
 * What one attempt came to. `refused`: no attempt of this request does it. `undone`: this attempt
 * did nothing. `failed`: it is unknown what it did.
 */
type Attempt =
  | { outcome: 'done'; result: unknown }
  | { outcome: 'refused'; error: ApiError }
  | { outcome: 'undone' | 'failed'; error: unknown; isTemporary: boolean };

const firstPauseMs = 250;
/** A service that asks for a longer pause is asked later by the caller. */
const longestPauseMs = 60_000;

export class Transport {
  constructor(private readonly settings: ConciliaOptions) {}

  list<P extends Page>(operation: Operation, path: string, sent: Sent): List<P> {
    return new List((cursor) => {
      const query = cursor === undefined ? sent.query : { ...sent.query, cursor };
      return this.request<P>(operation, path, { ...sent, query });
    });
  }

  async request<Result>(operation: Operation, path: string, sent: Sent): Promise<Result> {
    const prepared = this.prepare(operation, path, sent);
    const { signal, isRepeatable, maxAttempts } = prepared;
    signal?.throwIfAborted();
    let isUncertain = false;
    for (let count = 1; ; count += 1) {
      const attempt = await this.attempt(prepared);
      if (attempt.outcome === 'done') return attempt.result as Result;
      if (attempt.outcome === 'refused') throw attempt.error;
      const { outcome, error, isTemporary } = attempt;
      isUncertain ||= outcome === 'failed';
      const pauseMs = pauseBefore(count, error);
      const mayRepeat = isTemporary && (isRepeatable || !isUncertain) && pauseMs <= longestPauseMs;
      if (!mayRepeat || count >= maxAttempts || (await isAborted(pauseMs, signal)))
        throw this.failure(prepared, isUncertain, error);
    }
  }

  private failure(
    { operation, idempotencyKey, signal }: Prepared,
    isUncertain: boolean,
    error: unknown,
  ) {
    const { id, method } = operation;
    if (isUncertain && method !== 'GET') return new OutcomeUnknownError(id, idempotencyKey, error);
    if (signal?.aborted) return signal.reason as unknown;
    return error instanceof ApiError ? error : new ConnectionError(id, 'no response', error);
  }

  private prepare(
    operation: Operation,
    path: string,
    { body, query, options = {} }: Sent,
  ): Prepared {
    const { method, isKeyed = false, accepts = 'application/json' } = operation;
    const [keyHeader, keyName] = callers[operation.caller];
    const key = this.settings[keyName];
    if (!key) throw new TypeError(`${operation.id} needs the option ${keyName}`);
    const url = new URL(this.settings.baseUrl.replace(/\/+$/, '') + path);
    for (const [name, values] of Object.entries(query ?? {}))
      for (const value of [values].flat())
        if (value !== undefined && value !== null) url.searchParams.append(name, String(value));
    const idempotencyKey = isKeyed ? (options.idempotencyKey ?? crypto.randomUUID()) : undefined;
    const content = body === undefined ? undefined : contentOf(operation, body);
    const headers = {
      ...{ accept: `${accepts}, application/problem+json`, [keyHeader]: key },
      ...(content ? { 'content-type': content.type } : {}),
      ...(idempotencyKey === undefined ? {} : { IdempotencyKey: idempotencyKey }),
      ...(options.respondAsync ? { Prefer: 'respond-async' } : {}),
      ...(options.allowDuplicate ? { 'Concilia-Allow-Duplicate': 'true' } : {}),
    };
    return {
      ...{ operation, url, idempotencyKey, isRepeatable: method === 'GET' || isKeyed },
      // A redirect would carry the key to another host.
      init: { method, headers, redirect: 'manual', ...(content ? { body: content.content } : {}) },
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? this.settings.timeoutMs ?? 60_000,
      maxAttempts: options.maxAttempts ?? this.settings.maxAttempts ?? 4,
    };
  }

  private async attempt(prepared: Prepared): Promise<Attempt> {
    const { operation, url, init, signal: given, timeoutMs } = prepared;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = given ? AbortSignal.any([given, timeout]) : timeout;
    try {
      const response = await (this.settings.fetch ?? fetch)(url, { ...init, signal });
      if (response.ok) return { outcome: 'done', result: await resultOf(operation, response) };
      return refusalOf(operation, response, await response.text());
    } catch (error) {
      return {
        outcome: isUnsent(error) ? 'undone' : 'failed',
        ...{ error, isTemporary: !given?.aborted },
      };
    }
  }
}

function contentOf({ isUpload, writes }: Operation, body: unknown) {
  if (isUpload) return body as File;
  return { type: 'application/json', content: writeJson(body, writes) as string };
}

/** Throws where the response ended early, or is not what the operation returns. */
async function resultOf({ accepts, reads }: Operation, response: Response): Promise<unknown> {
  if (accepts?.startsWith('text/')) return response.text();
  if (accepts) return new Uint8Array(await response.arrayBuffer());
  const text = await response.text();
  return text === '' ? null : readJson(text, reads);
}

/** Of these, only an earlier attempt may have done something. */
const undoneStatuses = [401, 403, 429];
const temporaryStatuses = [429, 502, 503, 504];

/** What a response that is no success says about the request. */
function refusalOf({ id }: Operation, response: Response, text: string): Attempt {
  const isOfService = response.headers.get('content-type')?.includes('json') ?? false;
  const error = new ApiError(id, response, isOfService ? problemOf(text) : {});
  const { status, code } = error;
  const isTemporary = temporaryStatuses.includes(status);
  // The service's own 502, and not that of a proxy, says that the bank got nothing.
  const isBankUnreached = status === 502 && isOfService;
  if (undoneStatuses.includes(status) || isBankUnreached || code === 'account_stopped')
    return { outcome: 'undone', error, isTemporary };
  if (status >= 500) return { outcome: 'failed', error, isTemporary };
  if (code === 'request_in_progress') return { outcome: 'failed', error, isTemporary: true };
  return { outcome: 'refused', error };
}

function problemOf(text: string): Partial<CodedError> {
  try {
    return JSON.parse(text) as Partial<CodedError>;
  } catch {
    return {}; // not the service's: something between answered
  }
}

const unsentCodes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];

/** Whether the connection was never made. */
function isUnsent(error: unknown): boolean {
  const cause = (error as { cause?: { code?: string; errors?: { code?: string }[] } }).cause;
  const all = cause?.errors ?? (cause ? [cause] : []);
  return all.length > 0 && all.every(({ code = '' }) => unsentCodes.includes(code));
}

/** Longer each time, and not the same for all callers; at least what the service asks for. */
function pauseBefore(count: number, error: unknown): number {
  const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
  return Math.max(asked, firstPauseMs * 2 ** (count - 1) * (0.5 + Math.random()));
}

/** Waits. Whether the caller ended it meanwhile. */
async function isAborted(pauseMs: number, signal: AbortSignal | undefined): Promise<boolean> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(end, pauseMs);
    function end(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    }
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
  return signal?.aborted ?? false;
}

/** A part of a path. Throws TypeError for what would lead out of it. */
export function segment(value: string | number): string {
  const text = String(value);
  if (/^\.*$/.test(text)) throw new TypeError(`an id must not be ${JSON.stringify(text)}`);
  return encodeURIComponent(text);
}
