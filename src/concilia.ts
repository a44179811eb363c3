// Starts what the roles of a process ask for, in the order in which each needs the other, and stops it in
// reverse: PostgreSQL, the sandbox bank, the service, its workers and its clock.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module.js';
import { SettingsError, type Role, type Settings } from './config.js';
import { createPool, Database } from './database.service.js';
import { Addresses } from './platform/addresses.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './platform/embedded-postgres.js';
import { Health } from './platform/health.js';
import { createHttpApplication } from './platform/http.js';
import type { Log } from './platform/log.js';
import { applyMigrations } from './platform/migrations.js';
import { connectQueue } from './platform/queue-connection.js';
import { Timers } from './platform/timers.js';
import { Workers } from './platform/workers.js';
import { createSandbox } from './sandbox/sandbox.module.js';
import { WebhookRegistrar } from './webhooks/webhook-registrar.service.js';

export interface Concilia {
  /** Null in a process without roles of the service. */
  serviceUrl: string | null;
  /** Null in a process without the sandbox role. */
  sandboxUrl: string | null;
  stop(): Promise<void>;
}

type Progress = (message: string) => void;
type Undo = () => Promise<void>;

const migrations = fileURLToPath(new URL('../prisma/service/migrations', import.meta.url));

/** Starts the roles of the settings; when one fails, what had started is stopped. */
export async function startConcilia(
  settings: Settings,
  log: Log,
  progress: Progress,
): Promise<Concilia> {
  const undo: Undo[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const databases = await openDatabases(settings, progress, undo);
    const sandboxUrl = settings.roles.includes('sandbox')
      ? await startSandbox(settings, databases.sandbox, log, progress, undo)
      : null;
    const serviceUrl = serviceRoles(settings).length
      ? await startService(settings, databases.service, sandboxUrl, log, progress, undo)
      : null;
    return { serviceUrl, sandboxUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function serviceRoles({ roles }: Settings): Role[] {
  return roles.filter((role) => role !== 'sandbox');
}

/** The databases' addresses, the embedded ones where none is given. */
async function openDatabases(settings: Settings, progress: Progress, undo: Undo[]) {
  const needsService = serviceRoles(settings).length > 0 && !settings.databaseUrl;
  const needsSandbox = settings.roles.includes('sandbox') && !settings.sandboxDatabaseUrl;
  let embedded: EmbeddedPostgres | null = null;
  if (needsService || needsSandbox) {
    embedded = await startEmbeddedPostgres({
      dataDir: join(settings.dataDir, 'postgres'),
      log: progress,
    });
    undo.push(() => embedded?.stop() ?? Promise.resolve());
  }
  const urlOf = async (given: string | null, name: string, isNeeded: boolean) => {
    if (given || !isNeeded || !embedded) return given ?? '';
    await embedded.ensureDatabase(name);
    return embedded.url(name);
  };
  return {
    service: await urlOf(settings.databaseUrl, 'concilia', needsService),
    sandbox: await urlOf(settings.sandboxDatabaseUrl, 'concilia_sandbox', needsSandbox),
  };
}

/** How the operator resets a database, which is an embedded one where no address is given. */
function toReset(
  setting: 'DATABASE_URL' | 'SANDBOX_DATABASE_URL',
  given: string | null,
  { dataDir }: Settings,
): string {
  return given
    ? `create an empty database and set ${setting} to its address`
    : `delete the data folder ${dataDir} (DATA_DIR); the embedded database is created again at the next start`;
}

async function startSandbox(
  settings: Settings,
  databaseUrl: string,
  log: Log,
  progress: Progress,
  undo: Undo[],
): Promise<string> {
  const sandbox = await createSandbox({
    databaseUrl,
    toReset: toReset('SANDBOX_DATABASE_URL', settings.sandboxDatabaseUrl, settings),
    log,
    progress,
    settings: { apiKey: settings.bank.apiKey, partnerKey: settings.bank.partnerKey },
  });
  undo.push(() => sandbox.close());
  await listen(sandbox, 'SANDBOX_PORT', settings.sandboxPort, settings.host);
  progress('The sandbox bank is open');
  return urlOf(sandbox);
}

async function startService(
  settings: Settings,
  databaseUrl: string,
  sandboxUrl: string | null,
  log: Log,
  progress: Progress,
  undo: Undo[],
): Promise<string> {
  await applyMigrations({
    url: databaseUrl,
    folder: migrations,
    toReset: toReset('DATABASE_URL', settings.databaseUrl, settings),
    log: progress,
  });
  const database = new Database(
    createPool(databaseUrl, (error) => log.warn({ err: error }, 'database connection lost')),
  );
  undo.push(() => database.close());
  const queue = await connectQueue({ redisUrl: settings.redisUrl, databaseUrl }, log);
  undo.push(() => queue.close());
  const addresses = new Addresses();
  addresses.bankBaseUrl = settings.bank.baseUrl ?? sandboxUrl ?? '';
  addresses.bankWhitelabelUrl = settings.bank.whitelabelUrl ?? sandboxUrl ?? '';
  const service = await createHttpApplication(
    AppModule.with({ settings, addresses, log, database, queue }),
    { log, title: 'Concilia' },
  );
  undo.push(() => service.close());
  const health = service.get(Health);
  health.require('database', () => database.isReady());
  health.require('queue', () => queue.isReady());
  if (!settings.roles.includes('api')) serveHealthOnly(service);

  await listen(service, 'PORT', settings.port, settings.host);
  const url = urlOf(service);
  addresses.publicUrl = settings.publicUrl ?? url;
  if (settings.roles.includes('worker')) service.get(Workers).start();
  if (settings.roles.includes('scheduler')) {
    await service.get(WebhookRegistrar).registerAll();
    service.get(Timers).start();
  }
  health.started();
  progress('The service is ready');
  return url;
}

/** A process without the api role answers for its health and nothing else. */
function serveHealthOnly(service: NestFastifyApplication): void {
  service
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (request.url.startsWith('/health/')) done();
      else reply.callNotFound();
    });
}

async function listen(
  application: NestFastifyApplication,
  setting: 'PORT' | 'SANDBOX_PORT',
  port: number,
  host: string,
): Promise<void> {
  try {
    await application.listen(port, host);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    throw new SettingsError([
      `${setting} ${port} cannot be listened on (${code}): set another, or end what listens there.`,
    ]);
  }
}

/** Our own address; an application on every interface is reached over loopback. */
function urlOf(application: NestFastifyApplication): string {
  const address = application.getHttpServer().address();
  if (address === null || typeof address === 'string') throw new Error('no address to listen on');
  const isEverywhere = ['0.0.0.0', '::'].includes(address.address);
  const host = isEverywhere ? '127.0.0.1' : address.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
