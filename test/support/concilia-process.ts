// The service and its sandbox bank as one real process that tests can stop and kill, and a client
// of both.
import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referenceCheck, type Application } from './reference-check.js';
import { until } from './until.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** The processes that run. Nothing else would end them where a test or bench ends early. */
const endedWithUs = new Set<ChildProcess>();
process.once('exit', () => endedWithUs.forEach((child) => child.kill('SIGKILL')));

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Holds each port until all are found, because a released port could be found again. */
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

export interface ServiceResponse<Body = Record<string, unknown>> {
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

  /**
   * A process with its own settings and free ports, not yet started. With only the role `sandbox`
   * it is a bank. `script` may be that of another version.
   */
  static async with(
    settings: Record<string, string>,
    script = 'dist/cli.js',
  ): Promise<ConciliaProcess> {
    const [port, sandboxPort] = await freePorts(2);
    const environment = {
      PORT: String(port),
      SANDBOX_PORT: String(sandboxPort),
      SANDBOX_PRESET: 'complete',
      ...settings,
    };
    return new ConciliaProcess(
      environment,
      `http://127.0.0.1:${port}`,
      `http://127.0.0.1:${sandboxPort}`,
      script,
    );
  }

  async start(timeoutMs = 60_000, args: readonly string[] = []): Promise<void> {
    const { PATH = '', HOME = '/tmp', TMPDIR } = process.env;
    this.output = '';
    const child = spawn(process.execPath, [resolve(project, this.script), 'start', ...args], {
      cwd: tmpdir(), // not the checkout: a developer's .env must not change the tests
      env: { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    endedWithUs.add(child);
    child.once('exit', () => endedWithUs.delete(child));
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    await until(
      'the service is ready',
      async () => {
        if (child.exitCode !== null) throw new Error(`the process exited:\n${this.output}`);
        return (await fetch(`${this.isBankOnly ? this.bankUrl : this.serviceUrl}/health/ready`)).ok;
      },
      timeoutMs,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.output}`);
    });
  }

  private get isBankOnly(): boolean {
    return this.environment.ROLES === 'sandbox';
  }

  /** Ends the process with SIGKILL, without an orderly shutdown. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Stops the process with SIGTERM, as an operator does. Returns the exit code. */
  async stop(): Promise<number | null> {
    return this.end('SIGTERM');
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('the process does not run');
    return this.child.pid;
  }

  /** The output since the last start. */
  get printed(): string {
    return this.output;
  }

  /** Calls the service as a business system. */
  async callService<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ServiceResponse<Body>> {
    return request('service', this.serviceUrl, method, path, body, headers);
  }

  /** Calls the sandbox bank, as a payer or through its control API. */
  async callBank<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ServiceResponse<Body>> {
    return request('sandbox', this.bankUrl, method, path, body, headers);
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

const keys = { service: 'concilia-dev-key', sandbox: 'sandbox-dev-key' };

async function request<Body>(
  application: Application,
  baseUrl: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<ServiceResponse<Body>> {
  const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      'x-service-api-key': keys[application],
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  const { status, headers: answered } = response;
  referenceCheck(application).assert({
    ...{ method, url: path, sent, sentType: headers['content-type'] },
    ...{ status, headers: answered, text },
  });
  return {
    status,
    headers: answered,
    body: (text === '' ? null : JSON.parse(text)) as Body,
  };
}
