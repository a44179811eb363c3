// The trace id of the current request or job. Every log line and error body contains it. Log lines
// of a request also contain its client's address.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

interface Trace {
  traceId: string;
  clientAddress?: string;
}

const storage = new AsyncLocalStorage<Trace>();

/** Runs `work` with a trace id, which every log line of `work` contains. */
export function runWithTrace<Result>(
  traceId: string,
  work: () => Result,
  clientAddress?: string,
): Result {
  return storage.run({ traceId, ...(clientAddress ? { clientAddress } : {}) }, work);
}

/** What each log line contains of the current request or job. */
export function currentTrace(): Readonly<Partial<Trace>> {
  return storage.getStore() ?? {};
}

/** Node.js draws the random bytes of many UUIDs at once, which costs a tenth of drawing 16. */
export function newTraceId(): string {
  return randomUUID().replaceAll('-', '');
}

export function currentTraceId(): string | null {
  return storage.getStore()?.traceId ?? null;
}

const traceparent = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace id of a valid W3C `traceparent` header, else a new one. */
export function traceIdFrom(header: string | undefined): string {
  return (header && traceparent.exec(header)?.[1]) || newTraceId();
}
