// The PostgreSQL of the benches. Its files are on the disk and its commits are durable: the one of
// the tests is in memory.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres.js';

/** The server is started for `work`, unless `TEST_DATABASE_URL` names another one. */
export async function withBenchPostgres<Result>(work: () => Promise<Result>): Promise<Result> {
  if (process.env.TEST_DATABASE_URL) return work();
  const folder = await mkdtemp(join(tmpdir(), 'concilia-bench-'));
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} });
  process.env.TEST_DATABASE_URL = server.url('postgres');
  try {
    return await work();
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
