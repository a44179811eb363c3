// The service's database for programs of an operator: DATABASE_URL, or the embedded PostgreSQL
// under DATA_DIR.
import { join } from 'node:path';
import { createPool, Database } from './database.service.js';
import { startEmbeddedPostgres } from './platform/embedded-postgres.js';

async function open(databaseUrl: string | null, dataDir: string) {
  if (databaseUrl) return { url: databaseUrl, close: async () => undefined };
  const embedded = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    log: () => undefined,
  });
  return { url: embedded.url('concilia'), close: () => embedded.stop() };
}

/** Runs `work` on the database, and disconnects. */
export async function withProgramDatabase<Result>(
  { databaseUrl, dataDir }: { databaseUrl: string | null; dataDir: string },
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { url, close } = await open(databaseUrl, dataDir);
  const database = new Database(createPool(url, () => undefined));
  try {
    return await work(database);
  } finally {
    await database.close();
    await close();
  }
}
