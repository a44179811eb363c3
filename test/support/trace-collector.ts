// A collector of OpenTelemetry traces: OTLP over HTTP, as JSON.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code?: number };
  attributes: { key: string; value: object }[];
  links?: { traceId: string; spanId: string }[];
}

interface Export {
  resourceSpans: { scopeSpans: { spans: CollectedSpan[] }[] }[];
}

export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  /** Everything that was received: the headers and bodies of all requests. */
  received = '';
  requests = 0;
  /** Reads requests from now on and answers none. */
  isSilent = false;

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        collector.requests += 1;
        collector.received += `${request.url} ${JSON.stringify(request.headers)} ${body}\n`;
        if (collector.isSilent) return;
        const { resourceSpans } = JSON.parse(body) as Export;
        collector.spans.push(
          ...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
        );
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The spans of a trace with this name, or whose name it begins. */
  find(name: string, traceId?: string): CollectedSpan[] {
    return this.spans.filter(
      (span) => span.name.startsWith(name) && (traceId ?? span.traceId) === span.traceId,
    );
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
