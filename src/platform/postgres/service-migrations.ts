// The schema of the service's database and of its queue: applied by a start or by `concilia
// migrate`, or only checked by a start and by the programs of an operator. `url` is the address of
// a direct connection.
import { migrationsFolder as folder } from '../build.js';
import type { Settings } from '../settings/config.js';
import { applyMigrations, checkMigrations } from './migrations.js';

/**
 * Returns the names of the migrations that it applied. Throws LockNotAvailable when other sessions
 * hold a lock for longer than `waitMs`.
 */
export async function migrateServiceDatabase(
  url: string,
  waitMs: number,
  log: (message: string) => void,
): Promise<string[]> {
  return (await applyMigrations({ url, folder, wait: { totalMs: waitMs }, log })).applied;
}

/** Only reads. Throws PendingMigrations where the database has not all migrations. */
export async function checkServiceDatabase(url: string): Promise<void> {
  await checkMigrations({ url, folder });
}

/** At a start: applies the migrations, or throws PendingMigrations where it may not. */
export async function prepareServiceDatabase(
  url: string,
  { isOnStart, waitMs }: Settings['migrations'],
  log: (message: string) => void,
): Promise<void> {
  if (isOnStart) await migrateServiceDatabase(url, waitMs, log);
  else await checkServiceDatabase(url);
}
