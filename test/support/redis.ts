// A redis-server of the test, if the machine has one. The test can shut it down and start it again.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './concilia-process.js';
import { until } from './until.js';

/** Whether the machine has a redis-server. Without it, the tests on Redis are skipped. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export class TestRedis {
  private server: ChildProcess | null = null;
  private readonly folder = mkdtempSync(join(tmpdir(), 'concilia-redis-'));

  private constructor(private readonly port: number) {}

  static async start(): Promise<TestRedis> {
    const redis = new TestRedis(await freePort());
    await redis.startServer();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async flush(): Promise<void> {
    await this.withClient((client) => client.flushall());
  }

  /** Ends the server, which loses all its data. */
  async shutDown(): Promise<void> {
    const { server } = this;
    this.server = null;
    if (!server) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill();
    await ended;
  }

  async startServer(): Promise<void> {
    this.server = spawn(
      'redis-server',
      ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''],
      { stdio: 'ignore' },
    );
    await until('Redis answers', () => this.withClient((client) => client.ping()));
  }

  async stop(): Promise<void> {
    await this.shutDown();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async withClient<Result>(work: (client: Redis) => Promise<Result>): Promise<Result> {
    const client = new Redis(this.url, { lazyConnect: true, retryStrategy: () => null });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } finally {
      client.disconnect();
    }
  }
}
