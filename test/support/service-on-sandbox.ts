// The whole service in front of a sandbox bank of its own, in this process. Its workers and timers stand still: a
// test makes each step itself, when it wants it.
import { fileURLToPath } from 'node:url';
import { AppModule } from '../../src/app.module.js';
import { loadSettings } from '../../src/config.js';
import { createPool, Database } from '../../src/database.service.js';
import { Addresses } from '../../src/platform/addresses.js';
import { createHttpApplication } from '../../src/platform/http.js';
import { createLog } from '../../src/platform/log.js';
import { applyMigrations } from '../../src/platform/migrations.js';
import { connectQueue } from '../../src/platform/queue.js';
import { StatementService } from '../../src/statement/statement.service.js';
import { caller, sandboxUnderTest } from '../contract/bank-under-test.js';
import { testDatabase } from './postgres.js';

const migrations = fileURLToPath(new URL('../../prisma/service/migrations', import.meta.url));

export async function serviceOnSandbox() {
  const bank = await sandboxUnderTest();
  const own = await testDatabase();
  await applyMigrations({ url: own.url, folder: migrations, log: () => undefined });
  const settings = loadSettings({
    BANK_PROFILE: 'sandbox',
    BANK_BASE_URL: await bank.application.getUrl(),
    DATABASE_URL: own.url,
  });
  const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent', 'service');
  const database = new Database(createPool(own.url, () => undefined));
  const queue = await connectQueue({ redisUrl: null, databaseUrl: own.url }, log);
  const addresses = new Addresses();
  addresses.bankBaseUrl = settings.bank.baseUrl ?? '';
  const application = await createHttpApplication(
    AppModule.with({ settings, addresses, log, database, queue }),
    { log, title: 'Concilia' },
  );
  await application.listen(0, '127.0.0.1');
  const { id: accountId } = await database.prisma.bankAccount.findFirstOrThrow();
  const call = caller(await application.getUrl(), settings.keys.api);
  return {
    application,
    bank,
    database,
    pool: own.pool,
    accountId,
    /** Asks the service. */
    call,
    /** Reads what is new on the statement. */
    sync: () => application.get(StatementService, { strict: false }).sync(accountId),
    /** Says that a line was judged to be what an expected payment is. */
    match: (nsu: number, expectedPaymentId: string, role = 'payment') =>
      own.pool.query(
        `INSERT INTO match (account_id, id, nsu, expected_payment_id, amount_cents, role, rule, evidence)
         SELECT account_id, gen_random_uuid(), nsu, $3::uuid, amount_cents, $4, 'test', '{}'
         FROM "transaction" WHERE account_id = $1 AND nsu = $2`,
        [accountId, nsu, expectedPaymentId, role],
      ),
    stop: async () => {
      await application.close();
      await queue.close();
      await database.close();
      await own.drop();
      await bank.stop();
    },
  };
}

export type ServiceOnSandbox = Awaited<ReturnType<typeof serviceOnSandbox>>;
