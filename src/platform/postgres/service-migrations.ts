// The schema of the service's database and of its queue: applied by a start or by `npm run
// migrate`, or only checked by a start and by the programs of an operator.
import { fileURLToPath } from 'node:url';
import type { Settings } from '../settings/config.js';
import { applyMigrations, checkMigrations } from './migrations.js';

const folder = fileURLToPath(new URL('../../../prisma/service/migrations', import.meta.url));

export interface MigratedDatabase {
  /** The address of a direct connection. */
  url: string;
  resetInstruction: string;
}

/** The instruction to reset a database, which is embedded when its URL is not configured. */
export function instructionToReset(
  setting: 'DATABASE_URL' | 'SANDBOX_DATABASE_URL',
  configuredUrl: string | null,
  dataDir: string,
): string {
  return configuredUrl
    ? `create an empty database and set ${setting} to its address`
    : `delete the data folder ${dataDir} (DATA_DIR); ` +
        `the embedded database is created again at the next start`;
}

/** Throws LockNotAvailable when other sessions hold a lock for longer than `waitMs`. */
export async function migrateServiceDatabase(
  database: MigratedDatabase,
  waitMs: number,
  log: (message: string) => void,
): Promise<void> {
  await applyMigrations({ ...database, folder, wait: { totalMs: waitMs }, log });
}

/** Only reads. Throws PendingMigrations where the database has not all migrations. */
export async function checkServiceDatabase(database: MigratedDatabase): Promise<void> {
  await checkMigrations({ ...database, folder });
}

/** At a start: applies the migrations, or throws PendingMigrations where it may not. */
export async function prepareServiceDatabase(
  database: MigratedDatabase,
  { isOnStart, waitMs }: Settings['migrations'],
  log: (message: string) => void,
): Promise<void> {
  if (isOnStart) await migrateServiceDatabase(database, waitMs, log);
  else await checkServiceDatabase(database);
}
