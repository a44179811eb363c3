// The trace of the current request or job. Every log line and error body contains its id. Log lines
// of a request also contain its client's address. Spans, the timed parts of a trace, are recorded
// where `recordSpansBy` was called; elsewhere no object is made for one.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

/** Names a span, as W3C Trace Context does. */
export interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

/** As OpenTelemetry names them. */
export type SpanKind = 'SERVER' | 'CLIENT' | 'PRODUCER' | 'CONSUMER' | 'INTERNAL';

export interface OpenSpan {
  readonly context: SpanContext;
  /** Ids, kinds and states that we name: never what a person, a caller or the bank wrote. */
  set(attributes: Record<string, string | number>): void;
  /** Of an error, its code or its kind is recorded: its message may hold personal data. */
  end(error?: unknown): void;
}

/** Begins a span of `parent`, or the first one of its trace. `cause` is a span of another trace. */
export type SpanRecorder = (
  name: string,
  kind: SpanKind,
  of: { parent: SpanContext | undefined; cause: SpanContext | undefined },
) => OpenSpan;

interface Trace {
  traceId: string;
  clientAddress?: string;
  span?: SpanContext;
}

const storage = new AsyncLocalStorage<Trace>();
let record: SpanRecorder | null = null;

/** Null: no more. */
export function recordSpansBy(recorder: SpanRecorder | null): void {
  record = recorder;
}

export const areSpansRecorded = (): boolean => record !== null;

/** Runs `work` with a trace id, which every log line of `work` contains. */
export function runWithTrace<Result>(
  traceId: string,
  work: () => Result,
  clientAddress?: string,
): Result {
  return storage.run({ traceId, ...(clientAddress ? { clientAddress } : {}) }, work);
}

/** What each log line contains of the current request or job. */
export function currentTrace(): Readonly<Omit<Partial<Trace>, 'span'>> {
  const { traceId, clientAddress } = storage.getStore() ?? {};
  if (!traceId) return {};
  return clientAddress ? { traceId, clientAddress } : { traceId };
}

/** Node.js draws the random bytes of many UUIDs at once, which costs a tenth of drawing 16. */
export function newTraceId(): string {
  return randomUUID().replaceAll('-', '');
}

export function currentTraceId(): string | null {
  return storage.getStore()?.traceId ?? null;
}

const traceparent = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The trace id of a valid W3C `traceparent` header, else a new one. */
export function traceIdFrom(header: string | undefined): string {
  return (header && traceparent.exec(header)?.[1]) || newTraceId();
}

function spanContextFrom(text: string | null | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = (text && traceparent.exec(text)) || [];
  return traceId && spanId ? { traceId, spanId, traceFlags: Number(`0x${flags}`) & 1 } : undefined;
}

/** A span as a `traceparent`, by which other processes, and later work, continue its trace. */
export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags ? '01' : '00'}`;
}

/** Of the current span; null where no spans are recorded. */
export function currentTraceparent(): string | null {
  const span = storage.getStore()?.span;
  return span ? toTraceparent(span) : null;
}

export const isInSpan = (): boolean => storage.getStore()?.span !== undefined;

/** Runs `work` as a part of the span of a `traceparent`; without one, as a part of the current. */
export function continueTrace<Result>(of: string | null | undefined, work: () => Result): Result {
  const span = spanContextFrom(of);
  return span ? storage.run({ traceId: span.traceId, span }, work) : work();
}

/**
 * A part of the current span, or of that of the `traceparent` if there is one: then the current one
 * is linked to it. Null where no spans are recorded. The caller ends it.
 */
export function beginSpan(name: string, kind: SpanKind, within?: string | null): OpenSpan | null {
  if (record === null) return null;
  const current = storage.getStore()?.span;
  const parent = spanContextFrom(within) ?? current;
  const cause = current?.traceId === parent?.traceId ? undefined : current;
  return record(name, kind, { parent, cause });
}

/** What `work` begins is a part of the span. */
export function runInSpan<Result>({ context }: OpenSpan, work: () => Result): Result {
  const { traceId, spanId, traceFlags } = context;
  const span = { traceId, spanId, traceFlags };
  return storage.run({ ...storage.getStore(), traceId, span }, work);
}

/** Runs `work` in a span, which ends with it. Where no spans are recorded, it runs `work` alone. */
export function inSpan<Result>(
  name: string,
  kind: SpanKind,
  work: (span: OpenSpan | null) => Promise<Result>,
): Promise<Result> {
  const span = beginSpan(name, kind);
  return span === null ? work(null) : runInSpan(span, () => endWith(span, work(span)));
}

async function endWith<Result>(span: OpenSpan, work: Promise<Result>): Promise<Result> {
  try {
    const result = await work;
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
