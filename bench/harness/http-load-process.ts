// The process that http-load.ts starts. Requests are written as text to sockets: an HTTP client
// would cost more than the servers that are measured.
import { connect, type Socket } from 'node:net';
import type { HttpLoad, HttpLoadMessage, HttpLoadResult } from './http-load.js';

const placeholder = '{number}';
const responseTimeoutMs = 30_000;
/** Eleven digits: a number without leading zeros, also in JSON. */
let nextNumber = 10_000_000_001;

/** The text of a request around its number. */
function requestParts({
  port,
  path,
  method = 'POST',
  headers = {},
  body = '',
}: HttpLoad): string[] {
  // The placeholder stands for eleven digits.
  const count = body.split(placeholder).length - 1;
  const length = Buffer.byteLength(body) + count * (11 - placeholder.length);
  const fields = {
    host: `127.0.0.1:${port}`,
    ...(body === '' ? {} : { 'content-type': 'application/json' }),
    ...(body === '' && method === 'GET' ? {} : { 'content-length': String(length) }),
    ...headers,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`.split(placeholder);
}

interface Response {
  status: number;
  /** Of the head and the body, in bytes. */
  length: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

/** Null while a part of the response is missing. */
function readResponse(received: Buffer): Response | 'unreadable' | null {
  const end = received.indexOf(headEnd);
  if (end < 0) return null;
  const head = received.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  const bodyStart = end + headEnd.length;
  const contentLength = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (contentLength !== undefined) {
    const length = bodyStart + Number(contentLength);
    return received.length >= length ? { status, length } : null;
  }
  if (status === 204) return { status, length: bodyStart };
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return 'unreadable';
  const last = received.indexOf(lastChunk, end);
  return last < 0 ? null : { status, length: last + lastChunk.length };
}

/** The measurements of one run, filled by its connections. */
class Run {
  readonly firstNumber = nextNumber;
  readonly failedNumbers: number[] = [];
  private readonly parts: string[];
  private readonly statuses: Record<string, number> = {};
  private readonly timesMs: number[] = [];
  private readonly startedAtMs = performance.now();
  private readonly cpuAtStart = process.cpuUsage();

  constructor(private readonly load: HttpLoad) {
    this.parts = requestParts(load);
  }

  mayBegin(): boolean {
    const { requests, forMs } = this.load;
    if (requests !== undefined && nextNumber - this.firstNumber >= requests) return false;
    return forMs === undefined || performance.now() - this.startedAtMs < forMs;
  }

  requestText(number: number): string {
    return this.parts.length === 1 ? (this.parts[0] ?? '') : this.parts.join(String(number));
  }

  complete(number: number, status: number, ms: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    this.timesMs.push(ms);
    if (status < 200 || status > 299) this.failedNumbers.push(number);
  }

  result(): HttpLoadResult {
    const seconds = (performance.now() - this.startedAtMs) / 1_000;
    const times = Float64Array.from(this.timesMs).sort();
    const quantile = (part: number) => times[Math.floor((times.length - 1) * part)] ?? 0;
    const { user, system } = process.cpuUsage(this.cpuAtStart);
    return {
      ...{ requests: times.length, perSecond: times.length / seconds, seconds },
      ...{ failed: this.failedNumbers.length, statuses: this.statuses },
      ...{ p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: quantile(1) },
      ...{ firstNumber: this.firstNumber, lastNumber: nextNumber - 1 },
      ...{ failedNumbers: this.failedNumbers, cpuSeconds: (user + system) / 1e6 },
    };
  }
}

/** A keep-alive connection that sends one request after the other until the run begins no more. */
class Connection {
  private readonly socket: Socket;
  private number = 0;
  private startedAtMs = 0;
  private received: Buffer | null = null;

  constructor(
    private readonly run: Run,
    port: number,
    private readonly end: (error?: Error) => void,
  ) {
    this.socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.socket.setTimeout(responseTimeoutMs);
    this.socket.on('connect', () => this.sendNext());
    this.socket.on('data', (chunk) => this.read(chunk));
    this.socket.on('timeout', () => this.fail(`no response within ${responseTimeoutMs} ms`));
    this.socket.on('error', (error) => this.fail(String(error)));
    this.socket.on('close', () => this.fail('the connection was closed'));
  }

  private sendNext(): void {
    if (!this.run.mayBegin()) return this.close();
    this.number = nextNumber;
    nextNumber += 1;
    this.startedAtMs = performance.now();
    this.socket.write(this.run.requestText(this.number));
  }

  private read(chunk: Buffer): void {
    this.received = this.received ? Buffer.concat([this.received, chunk]) : chunk;
    const response = readResponse(this.received);
    if (!response) return;
    if (response === 'unreadable' || this.received.length > response.length)
      return this.fail('the response has no end, or more bytes follow it');
    this.received = null;
    this.run.complete(this.number, response.status, performance.now() - this.startedAtMs);
    this.sendNext();
  }

  private fail(problem: string): void {
    this.close(new Error(problem));
  }

  /** What happens to the connection after its end changes nothing. */
  private close(error?: Error): void {
    this.socket.removeAllListeners().on('error', () => undefined);
    this.socket.destroy();
    this.end(error);
  }
}

function useConnection(run: Run, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    new Connection(run, port, (error) => (error ? reject(error) : resolve()));
  });
}

async function runLoad(load: HttpLoad): Promise<HttpLoadMessage> {
  try {
    const run = new Run(load);
    const connections = Array.from({ length: load.connections }, () =>
      useConnection(run, load.port),
    );
    // All of them end before the numbers of another run begin.
    const ends = await Promise.allSettled(connections);
    const broken = ends.find((end) => end.status === 'rejected');
    if (broken) return { error: String(broken.reason) };
    return { result: run.result() };
  } catch (error) {
    return { error: String(error) };
  }
}

process.on('message', (load: HttpLoad) => {
  void runLoad(load).then((message) => process.send?.(message));
});
