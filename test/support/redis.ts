// A redis-server of the test's own, where the machine has one.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './concilia-process.js';
import { until } from './until.js';

export interface TestRedis {
  url: string;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether a redis-server can be had here; without one, its half of the tests is skipped and says so. */
export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'concilia-redis-'));
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
    { stdio: 'ignore' },
  );
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => 100 });
  client.on('error', () => undefined);
  await until('Redis answers', async () => {
    if (client.status === 'wait') await client.connect();
    return (await client.ping()) === 'PONG';
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    flush: async () => {
      await client.flushall();
    },
    stop: async () => {
      client.disconnect();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
