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

export function hasEmbeddedDatabase({ dataDir }: Pick<DatabaseLocation, 'dataDir'>): boolean {
  return existsSync(join(dataDir, 'postgres'));
}

/**
 * Runs `work` on the database, and disconnects. Throws UnusableDatabase or PendingMigrations where
 * the database is away or has not all tables.
 */
export async function withProgramDatabase<Result>(
  location: DatabaseLocation,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return withDatabaseAt(location, async (database, url) => {
    await checkServiceDatabase(url);
    return work(database);
  });
}

/** As `withProgramDatabase`, also on a database that has not all tables. */
export async function withDatabaseAt<Result>(
  location: DatabaseLocation,
  work: (database: Database, url: string) => Promise<Result>,
): Promise<Result> {
  const { url, close } = await open(location);
  const database = new Database(createPool(url, () => undefined));
  try {
    return await withReachableDatabase(() => work(database, url));
  } finally {
    await database.close();
    await close();
  }
}
