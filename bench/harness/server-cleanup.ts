// Runs beside the benches, in a process of its own: stops their PostgreSQL and deletes its data
// where they were killed and left both. The end of the benches closes the channel to them.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

const [folder = ''] = process.argv.slice(2);

process.once('disconnect', () => {
  // Benches that end in order have deleted the folder.
  if (existsSync(folder)) void removeServer();
});

async function removeServer(): Promise<void> {
  const { startEmbeddedPostgres } =
    await import('../../src/platform/embedded-postgres/embedded-postgres.js');
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} });
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
