// Sends the spans of this process to an OpenTelemetry collector, over OTLP/HTTP. This file, and so
// OpenTelemetry, is loaded only where OTEL_EXPORTER_OTLP_ENDPOINT is set. The libraries read the
// other standard variables themselves: sampling, batches, and attributes of the resource.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
} from '@opentelemetry/sdk-trace-base';
import { build } from './build.js';
import { AppError } from './errors.js';
import type { Log } from './log.js';
import type { TraceSettings } from './settings/config.js';
import { currentTraceId, newTraceId, recordSpansBy } from './trace.js';

/** A collector that does not answer holds up the end of the process no longer. */
const flushMs = 2_000;

/** Records spans from now on. Returns what ends it, and sends what was recorded. */
export function startTraces({ endpoint, headers }: TraceSettings, log: Log): () => Promise<void> {
  const report = (message: string) => log.warn({ cause: message }, 'traces are not sent');
  const ignore = () => undefined;
  const reported = { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(reported, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers });
  const { generateSpanId } = new RandomIdGenerator();
  const service = { 'service.name': 'concilia', 'service.version': build.version };
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(service))
      .merge(detectResources({ detectors: [envDetector] })),
    // The first span of a trace has the id that log lines and error bodies contain.
    idGenerator: { generateSpanId, generateTraceId: () => currentTraceId() ?? newTraceId() },
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('concilia', build.version);
  recordSpansBy((name, kind, { parent, cause }) => {
    const links = cause ? [{ context: cause }] : [];
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const options = { kind: SpanKind[kind], links };
    const span = tracer.startSpan(name, options, context);
    return {
      context: span.spanContext(),
      set: (attributes) => void span.setAttributes(attributes),
      end: (error) => {
        if (error !== undefined) {
          span.setAttribute('error.type', errorTypeOf(error));
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  });
  return async () => {
    recordSpansBy(null);
    const sent = provider.shutdown().then(() => true, report);
    const late = sleep(flushMs, false, { ref: false });
    if ((await Promise.race([sent, late])) === false)
      report(`The collector has not answered within ${flushMs} ms.`);
    diag.disable();
  };
}

function errorTypeOf(error: unknown): string {
  if (error instanceof AppError) return error.code;
  const { code, name } = error as { code?: unknown; name?: unknown };
  const known = [code, name].find((one) => typeof one === 'string');
  return known ?? 'error';
}
