// The PostgreSQL of the benches. Its files are on the disk and its commits are durable: the one of
// the tests is in memory.
import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.js';

/**
 * The server is started for `work`, which gets the path of its log, unless `TEST_DATABASE_URL`
 * names another one.
 */
export async function withBenchPostgres<Result>(
  work: (log: string) => Promise<Result>,
): Promise<Result> {
  if (process.env.TEST_DATABASE_URL) return work('');
  const folder = await mkdtemp(join(tmpdir(), 'concilia-bench-'));
  removeAfterKill(folder);
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} });
  process.env.TEST_DATABASE_URL = server.url('postgres');
  try {
    return await work(join(folder, 'data', 'server.log'));
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A process in a group of its own, which a Ctrl-C does not reach. */
function removeAfterKill(folder: string): void {
  const program = new URL('./server-cleanup.ts', import.meta.url);
  const cleanup = fork(program, [folder], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  cleanup.unref();
  cleanup.channel?.unref();
}
