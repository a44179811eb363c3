// The service's database for programs of an operator: DATABASE_URL, or the embedded PostgreSQL
// under DATA_DIR. A program works only on a database that has all migrations.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createPool, Database } from '../platform/postgres/database.service.js';
import { UnusableDatabase, withReachableDatabase } from '../platform/postgres/database-errors.js';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres.js';
import { checkServiceDatabase } from '../platform/postgres/service-migrations.js';

interface DatabaseLocation {
  databaseUrl: string | null;
  dataDir: string;
}

/** The embedded PostgreSQL is started unless it runs; its last user stops it. */
async function open({ databaseUrl, dataDir }: DatabaseLocation) {
  if (databaseUrl) return { url: databaseUrl, close: async () => undefined };
  const folder = join(dataDir, 'postgres');
  if (!existsSync(folder))
    throw new UnusableDatabase(
      `There is no database in ${folder}. Set DATA_DIR or DATABASE_URL to the service's database.`,
    );
  const embedded = await startEmbeddedPostgres({ dataDir: folder, log: () => undefined });
  return { url: embedded.url('concilia'), close: () => embedded.stop() };
}

/**
 * Runs `work` on the database, and disconnects. Throws UnusableDatabase or PendingMigrations where
 * the database is away or has not all tables.
 */
export async function withProgramDatabase<Result>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const { url, close } = await open(location);
  try {
    return await withReachableDatabase(async () => {
      await checkServiceDatabase(url);
      return workOn(url, work);
    });
  } finally {
    await close();
  }
}

async function workOn<Result>(
  url: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = new Database(createPool(url, () => undefined));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
