// The trace id of the work at hand: a request's own, or a job's. It stands in every log line and error body.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

const storage = new AsyncLocalStorage<{ traceId: string }>();

/** Runs `work` under a trace id; every log line written inside carries it. */
export function runWithTrace<Result>(traceId: string, work: () => Result): Result {
  return storage.run({ traceId }, work);
}

export function newTraceId(): string {
  return randomBytes(16).toString('hex');
}

export function currentTraceId(): string | null {
  return storage.getStore()?.traceId ?? null;
}

const traceparent = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's W3C trace id when it sent one that can be read, a new one otherwise. */
export function traceIdFrom(header: string | undefined): string {
  return (header && traceparent.exec(header)?.[1]) || newTraceId();
}
