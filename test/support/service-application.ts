// The whole service in the test's process, in front of a sandbox bank: its API and its modules,
// without job workers and timers.
import { AppModule, serviceReference } from '../../src/app/app.module.js';
import { loadSettings } from '../../src/platform/settings/config.js';
import { Database } from '../../src/platform/postgres/database.service.js';
import { encryptedColumns } from '../../src/app/encrypted-columns.js';
import { Addresses, createHttpApplication } from '../../src/platform/http/http.js';
import { createLog, type Log } from '../../src/platform/log.js';
import { connectQueue } from '../../src/platform/queue/queue-connection.js';
import { openSecretBox } from '../../src/access/secrets/credentials-keys.service.js';
import type { Preset } from '../../src/sandbox/presets/presets.js';
import { createCaller, sandboxUnderTest } from '../contract/bank-under-test.js';
import { testDatabase, type TestDatabase } from './postgres.js';

export const apiKey = 'concilia-dev-key';
export const partnerKey = 'concilia-dev-partner';
export const adminKey = 'concilia-dev-admin';

/** One process of the service, on a database and a bank that other processes may share. */
export async function serviceProcess(
  test: Pick<TestDatabase, 'url' | 'pool'>,
  bankUrl: string,
  environment: Record<string, string> = {},
  log = createLog(process.env.TEST_LOG_LEVEL ?? 'silent', 'concilia'),
) {
  const settings = loadSettings(environment);
  const { trustedProxies } = settings;
  const database = new Database(test.pool);
  const secretBox = await openSecretBox(database, settings, encryptedColumns);
  const queue = await connectQueue({ redisUrl: null, databaseUrl: test.url }, log);
  const addresses = new Addresses();
  addresses.bankBaseUrl = bankUrl;
  addresses.bankWhitelabelUrl = addresses.bankBaseUrl;
  const application = await createHttpApplication(
    AppModule.with({ settings, addresses, log, database, queue, secretBox }),
    { log, reference: serviceReference, trustedProxies },
  );
  await application.listen(0, '127.0.0.1');
  const url = await application.getUrl();
  addresses.publicUrl = url;
  addresses.ownPorts.add(Number(new URL(url).port));
  return {
    application,
    database,
    url,
    /** Calls the service as the business system of the account `main`, or with another key. */
    call: createCaller(url, apiKey, 'service'),
    stop: async () => {
      await application.close();
      await queue.close();
      await database.prisma.$disconnect();
    },
  };
}

export type ServiceProcess = Awaited<ReturnType<typeof serviceProcess>>;

/** `SANDBOX_PRESET` of the environment is the sandbox's preset: `complete` without it. */
export async function serviceApplication(
  environment: Record<string, string> = {},
  ...log: [] | [Log]
) {
  const sandbox = await sandboxUnderTest(environment.SANDBOX_PRESET as Preset | undefined);
  const test = await testDatabase('service');
  const started = await serviceProcess(
    test,
    await sandbox.application.getUrl(),
    environment,
    ...log,
  );
  return {
    ...started,
    sandbox,
    test,
    stop: async () => {
      await started.stop();
      await test.drop();
      await sandbox.stop();
    },
  };
}

export type ServiceApplication = Awaited<ReturnType<typeof serviceApplication>>;
