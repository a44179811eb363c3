// Brings the schema of the service's database and of its queue up to date. It runs before a
// rollout, while processes of the version before still work.
import type { Command } from 'commander';
import { loadMigrationSettings } from '../../platform/settings/config.js';
import { readEnvironment } from '../../platform/settings/environment.js';
import { withReachableDatabase } from '../../platform/postgres/database-errors.js';
import { createLog } from '../../platform/log.js';
import { connectQueue } from '../../platform/queue/queue-connection.js';
import { migrateServiceDatabase } from '../../platform/postgres/service-migrations.js';
import { note, reports } from './definition.js';

export function migrateCommand(command: Command): void {
  reports(command, 'migrate', async () => {
    const { databaseUrl, redisUrl, waitMs } = loadMigrationSettings(readEnvironment());
    const applied = await withReachableDatabase(async () => {
      const done = await migrateServiceDatabase(databaseUrl, waitMs, note);
      if (!redisUrl) {
        const log = createLog('info', 'migrate', process.stderr);
        const queue = await connectQueue({ redisUrl, databaseUrl, wait: { totalMs: waitMs } }, log);
        await queue.close();
      }
      return done;
    });
    return { text: ['The database is up to date.'], json: { applied } };
  });
}
