// The whole service in the test's process, in front of a sandbox bank: its API and its modules,
// without job workers and timers.
import { AppModule } from '../../src/app.module.js';
import { loadSettings } from '../../src/config.js';
import { Database } from '../../src/database.service.js';
import { Addresses, createHttpApplication } from '../../src/platform/http.js';
import { createLog } from '../../src/platform/log.js';
import { connectQueue } from '../../src/platform/queue-connection.js';
import { createCaller, sandboxUnderTest } from '../contract/bank-under-test.js';
import { testDatabase } from './postgres.js';

export const apiKey = 'concilia-dev-key';
export const partnerKey = 'concilia-dev-partner';
export const adminKey = 'concilia-dev-admin';

export async function serviceApplication() {
  const sandbox = await sandboxUnderTest();
  const test = await testDatabase('service');
  const log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent', 'concilia');
  const database = new Database(test.pool);
  const queue = await connectQueue({ redisUrl: null, databaseUrl: test.url }, log);
  const addresses = new Addresses();
  addresses.bankBaseUrl = await sandbox.application.getUrl();
  addresses.bankWhitelabelUrl = addresses.bankBaseUrl;
  const application = await createHttpApplication(
    AppModule.with({ settings: loadSettings({}), addresses, log, database, queue }),
    { log, title: 'Concilia' },
  );
  await application.listen(0, '127.0.0.1');
  const url = await application.getUrl();
  addresses.publicUrl = url;
  return {
    application,
    database,
    sandbox,
    url,
    /** Calls the service as the business system of the account `main`, or with another key. */
    call: createCaller(url, apiKey),
    stop: async () => {
      await application.close();
      await queue.close();
      await database.prisma.$disconnect();
      await test.drop();
      await sandbox.stop();
    },
  };
}

export type ServiceApplication = Awaited<ReturnType<typeof serviceApplication>>;
