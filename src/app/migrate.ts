// The program of `npm run migrate`: brings the schema of the service's database and of its queue up
// to date, and ends. It runs before a rollout, while processes of the version before still work.
import { loadMigrationSettings, readEnvironment } from '../platform/settings/config.js';
import { exitWith } from './exit.js';
import { withReachableDatabase } from '../platform/postgres/database-errors.js';
import { createLog } from '../platform/log.js';
import { connectQueue } from '../platform/queue/queue-connection.js';
import { migrateServiceDatabase } from '../platform/postgres/service-migrations.js';

const print = (message: string) => process.stdout.write(`${message}\n`);

try {
  const { databaseUrl, redisUrl, waitMs } = loadMigrationSettings(readEnvironment());
  await withReachableDatabase(async () => {
    await migrateServiceDatabase(databaseUrl, waitMs, print);
    if (!redisUrl) {
      const log = createLog('info', 'migrate');
      const queue = await connectQueue({ redisUrl, databaseUrl, wait: { totalMs: waitMs } }, log);
      await queue.close();
    }
  });
  print('The database is up to date.');
} catch (error) {
  exitWith(error);
}
