// The service of the year: the whole application in the test's own process, connected to the year's
// bank. Its workers and timers do not run, so the test decides when each step happens.
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { AppModule, serviceReference } from '../../src/app/app.module.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import { Database } from '../../src/platform/postgres/database.service.js';
import { encryptedColumns } from '../../src/app/encrypted-columns.js';
import { Addresses, createHttpApplication } from '../../src/platform/http/http.js';
import { createLog } from '../../src/platform/log.js';
import { applyMigrations } from '../../src/platform/postgres/migrations.js';
import { connectQueue } from '../../src/platform/queue/queue-connection.js';
import { ReconciliationService } from '../../src/reconciliation/apply/reconciliation.service.js';
import { openSecretBox } from '../../src/access/secrets/credentials-keys.service.js';
import { StatementSync } from '../../src/statement/lines/statement-sync.service.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { YearBank, type StatementOrder } from './bank.js';
import type { Year } from './generate.js';
import { insertInitialData, insertOtherAccount } from './initial-rows.js';

/** With `keepsDatabase`, the database is the one that a service with this data folder opens. */
export async function openYearDeployment(year: Year, order: StatementOrder, keepsDatabase = false) {
  const bank = await YearBank.open(year, order);
  const test = keepsDatabase ? await recreateServiceDatabase() : await testDatabase('service');
  // The service alone sent money all year: nothing that occurred since is imported history.
  await test.pool.query(
    `INSERT INTO bank_account (slug, go_live_at, created_at, updated_at)
     VALUES ('main', $1, $2, now())`,
    [year.goLiveAt, new Date(year.goLiveAt.getTime() + Date.now() - bank.now)],
  );
  const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent', 'concilia');
  const database = new Database(test.pool);
  const queue = await connectQueue({ redisUrl: null, databaseUrl: test.url }, log);
  const addresses = new Addresses();
  addresses.bankBaseUrl = bank.url;
  addresses.bankWhitelabelUrl = bank.url;
  const settings = loadSettings({});
  const secretBox = await openSecretBox(database, settings, encryptedColumns);
  const application = await createHttpApplication(
    AppModule.with({ settings, addresses, log, database, queue, secretBox }),
    { log, reference: serviceReference },
  );
  await application.listen(0, '127.0.0.1');
  addresses.publicUrl = await application.getUrl();
  const account = await database.prisma.bankAccount.findFirstOrThrow({ where: { slug: 'main' } });
  const clockAheadMs = Date.now() - bank.now;
  const target = { pool: test.pool, accountId: account.id, clockAheadMs };
  await insertInitialData(target, year);
  await insertOtherAccount(target, year);
  return {
    ...{ application, bank, database, pool: test.pool, accountId: account.id },
    /** Syncs the statement once. */
    sync: () => application.get(StatementSync, { strict: false }).sync(account.id),
    /** Reconciles everything that is due. */
    reconcile: () =>
      application
        .get(ReconciliationService, { strict: false })
        .reconcile({ accountId: account.id }),
    close: async () => {
      await application.close();
      await queue.close();
      await database.prisma.$disconnect();
      await test.drop();
      bank.close();
    },
  };
}

const migrations = fileURLToPath(new URL('../../prisma/service/migrations', import.meta.url));

/** Drops and creates the database `concilia`. Its `drop` only closes the connections. */
async function recreateServiceDatabase(): Promise<TestDatabase> {
  const url = new URL(process.env.TEST_DATABASE_URL ?? '');
  const server = new pg.Client({ connectionString: url.href });
  await server.connect();
  await server.query('DROP DATABASE IF EXISTS concilia WITH (FORCE)');
  await server.query('CREATE DATABASE concilia');
  await server.end();
  url.pathname = '/concilia';
  await applyMigrations({ url: url.href, folder: migrations, log: () => undefined });
  const pool = new pg.Pool({ connectionString: url.href, max: 10 });
  return { url: url.href, pool, drop: () => pool.end() };
}

export type YearDeployment = Awaited<ReturnType<typeof openYearDeployment>>;
