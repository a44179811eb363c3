// The service of the year: whole, in the test's own process, before the year's bank; its workers and its clock stand
// still, so that each step is taken when the year wants it.
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { AppModule } from '../../src/app.module.js';
import { loadSettings } from '../../src/config.js';
import { Database } from '../../src/database.service.js';
import { Addresses } from '../../src/platform/addresses.js';
import { createHttpApplication } from '../../src/platform/http.js';
import { createLog } from '../../src/platform/log.js';
import { applyMigrations } from '../../src/platform/migrations.js';
import { connectQueue } from '../../src/platform/queue-connection.js';
import { ReconciliationService } from '../../src/reconciliation/reconciliation.service.js';
import { StatementService } from '../../src/statement/statement.service.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { YearBank, type ShownOrder } from './bank.js';
import type { Year } from './generate.js';
import { layGround, layOtherAccount } from './ground.js';

export async function openHouse(year: Year, order: ShownOrder, isKept = false) {
  const bank = await YearBank.open(year, order);
  const test = isKept ? await keptDatabase() : await testDatabase('service');
  await test.pool.query(
    `INSERT INTO bank_account (slug, go_live_at, updated_at) VALUES ('main', $1, now())`,
    [year.goLiveAt],
  );
  const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent', 'concilia');
  const database = new Database(test.pool);
  const queue = await connectQueue({ redisUrl: null, databaseUrl: test.url }, log);
  const addresses = new Addresses();
  addresses.bankBaseUrl = bank.url;
  addresses.bankWhitelabelUrl = bank.url;
  const settings = loadSettings({});
  const application = await createHttpApplication(
    AppModule.with({ settings, addresses, log, database, queue }),
    { log, title: 'Concilia' },
  );
  await application.listen(0, '127.0.0.1');
  addresses.publicUrl = await application.getUrl();
  const account = await database.prisma.bankAccount.findFirstOrThrow({ where: { slug: 'main' } });
  const ground = { pool: test.pool, accountId: account.id, aheadMs: Date.now() - bank.now };
  await layGround(ground, year);
  await layOtherAccount(ground, year);
  return {
    ...{ application, bank, database, pool: test.pool, accountId: account.id, url: test.url },
    /** Polls the statement once. */
    sync: () => application.get(StatementService, { strict: false }).sync(account.id),
    /** Judges what there is to judge. */
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

/** The database that a service with this data folder would open; made anew. */
async function keptDatabase(): Promise<TestDatabase> {
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

export type House = Awaited<ReturnType<typeof openHouse>>;
