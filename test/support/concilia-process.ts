// The service and its sandbox bank as one real process, which tests may stop or kill, and a client of both.
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** All held until the last is found: one that is given back may be the next one found. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

export interface Answer<Body = Record<string, unknown>> {
  status: number;
  headers: Headers;
  body: Body;
}

export class ConciliaProcess {
  private child: ChildProcess | null = null;
  private output = '';

  private constructor(
    private readonly environment: Record<string, string>,
    readonly serviceUrl: string,
    readonly bankUrl: string,
    private readonly script: string,
  ) {}

  /** A process with settings of its own, on free ports; not yet running. One of the role `sandbox` alone is a bank. */
  static async with(
    settings: Record<string, string>,
    script = 'dist/main.js',
  ): Promise<ConciliaProcess> {
    const [port, sandboxPort] = await freePorts(2);
    const environment = { PORT: String(port), SANDBOX_PORT: String(sandboxPort), ...settings };
    return new ConciliaProcess(
      environment,
      `http://127.0.0.1:${port}`,
      `http://127.0.0.1:${sandboxPort}`,
      script,
    );
  }

  async start(timeoutMs = 40_000): Promise<void> {
    const { PATH = '', HOME = '/tmp', TMPDIR } = process.env;
    this.output = '';
    const child = spawn(process.execPath, [join(project, this.script)], {
      cwd: tmpdir(), // not the checkout: a developer's .env must not change the tests
      env: { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    await until(
      'the service is ready',
      async () => {
        if (child.exitCode !== null) throw new Error(`it ended:\n${this.output}`);
        return (await fetch(`${this.isBankAlone ? this.bankUrl : this.serviceUrl}/health/ready`))
          .ok;
      },
      timeoutMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.output}`);
    });
  }

  private get isBankAlone(): boolean {
    return this.environment.ROLES === 'sandbox';
  }

  /** SIGKILL: nothing gets a chance to tidy up. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** SIGTERM, as an operator would; gives the exit code. */
  async stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  /** What it has printed since it started. */
  get printed(): string {
    return this.output;
  }

  /** Asks the service as a business system. */
  async ask<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    return request(this.serviceUrl, 'concilia-dev-key', method, path, body, headers);
  }

  /** Asks the sandbox bank, as a payer or as the control plane. */
  async bank<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<Body>> {
    return request(this.bankUrl, 'sandbox-dev-key', method, path, body, {});
  }

  private async end(signal: NodeJS.Signals): Promise<number | null> {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null)
      return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    return ended;
  }
}

async function request<Body>(
  baseUrl: string,
  key: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer<Body>> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'x-service-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? null : JSON.parse(text)) as Body,
  };
}
