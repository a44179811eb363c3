// Starts the roles of a process in the order of their dependencies: the sandbox bank and what the
// service works on, the service, its job workers, its timers. Stops first what takes new work: the
// process is not ready, then accepts no connection, then ends jobs and timers, then the databases.
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule, serviceReference } from './app.module.js';
import { roles, type Settings } from '../platform/settings/config.js';
import { build } from '../platform/build.js';
import { SettingsError } from '../platform/settings/environment.js';
import { createPool, Database } from '../platform/postgres/database.service.js';
import { encryptedColumns } from './encrypted-columns.js';
import { serviceRoles, type OpenDatabases } from './open-databases.js';
import { AccountsService } from '../access/accounts/accounts.service.js';
import { Operators } from '../access/people/operators.service.js';
import { demoSlug, DemoShop } from '../console/first-steps/demo-shop.service.js';
import { AppError } from '../platform/errors.js';
import { Addresses, createHttpApplication } from '../platform/http/http.js';
import { DiskSpace } from '../platform/postgres/disk-space.queries.js';
import { findClockDifference, Health, isForOperators } from '../platform/http/health.js';
import type { Log } from '../platform/log.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { PoolMetrics } from '../platform/metrics/pool-metrics.js';
import { observeProcess } from '../platform/metrics/process-metrics.js';
import { connectQueue, type QueueConnection } from '../platform/queue/queue-connection.js';
import type { SecretBox } from '../platform/secret-box.js';
import { Timers } from '../platform/queue/timers.js';
import { JobWorkers } from '../platform/queue/job-workers.js';
import { openSecretBox } from '../access/secrets/credentials-keys.service.js';
import { prepareServiceDatabase } from '../platform/postgres/service-migrations.js';
import { createSandbox } from '../sandbox/sandbox.module.js';
import { webhookRegistrations } from '../webhooks/registration/webhook-registrar.service.js';

export interface RunningConcilia {
  /** Null when the process has no role of the service. */
  serviceUrl: string | null;
  /** Null when the process does not have the sandbox role. */
  sandboxUrl: string | null;
  /** The link by which the first person of a development installation signs in; mostly null. */
  firstLink: string | null;
  /**
   * Opens the demonstration shop and returns its page. Throws `not_found` where the bank is no
   * sandbox bank.
   */
  openDemo(): Promise<string>;
  /** Goes on serving for the delay, in which no one sends requests to a process not ready. */
  stop(delayMs?: number): Promise<void>;
}

/** What each part of the process starts with. */
interface Start {
  settings: Settings;
  log: Log;
  progress: (message: string) => void;
  /** What stops the parts that have started, in the order of their start. */
  stopSteps: (() => Promise<void>)[];
  /** Of the applications that listen. */
  listening: Health[];
}

/**
 * A timer registers the webhooks. The start waits so long for it: where the bank answers, its
 * webhooks arrive once the process is ready. A bank that does not answer delays nothing else.
 */
const registrationWaitMs = 5_000;
/** Workers and timers start once the process is ready. A bank that hangs delays them no longer. */
const backgroundWaitMs = 1_000;
/** Readiness does not wait longer for a queue that hangs: who asks may not wait either. */
const queueAnswerMs = 500;

/**
 * Starts the roles of the settings. When a role fails to start, those already started are stopped,
 * and the databases are closed.
 */
export async function startConcilia(
  settings: Settings,
  opening: Promise<OpenDatabases>,
  log: Log,
  progress: Start['progress'],
): Promise<RunningConcilia> {
  const stopSteps: Start['stopSteps'] = [];
  const listening: Health[] = [];
  const start = { settings, log, progress, stopSteps, listening };
  const stop = async (delayMs = 0) => {
    for (const health of listening) health.markStopping();
    await sleep(delayMs);
    for (const step of stopSteps.splice(0).reverse()) await step();
  };
  try {
    const databases = await opening;
    stopSteps.push(() => databases.close());
    const hasSandbox = settings.roles.includes('sandbox');
    const hasService = serviceRoles(settings).length > 0;
    if (hasService && settings.traces) {
      const { startTraces } = await import('../platform/open-telemetry.js');
      stopSteps.push(startTraces(settings.traces, log));
    }
    // Both wait for PostgreSQL most of the time. What has started is stopped when one fails.
    const [sandbox, connections] = await Promise.allSettled([
      hasSandbox ? startSandbox(start, databases.sandbox) : null,
      hasService ? connectService(start, databases) : null,
    ]);
    if (sandbox.status === 'rejected') throw sandbox.reason;
    if (connections.status === 'rejected') throw connections.reason;
    const sandboxUrl = sandbox.value;
    const service = connections.value
      ? await startService(start, databases, connections.value, sandboxUrl)
      : { serviceUrl: null, firstLink: null, openDemo: noDemo };
    return { ...service, sandboxUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSandbox(
  { settings, log, progress, stopSteps, listening }: Start,
  databaseUrl: string,
): Promise<string> {
  const { sandboxPort, host, bank } = settings;
  const sandbox = await createSandbox({
    databaseUrl,
    log,
    progress,
    settings: {
      ...{ apiKey: bank.apiKey, partnerKey: bank.partnerKey },
      ...{ preset: settings.sandboxPreset, habits: settings.sandboxHabits },
    },
  });
  stopSteps.push(() => sandbox.close());
  listening.push(sandbox.get(Health));
  await listen(sandbox, 'SANDBOX_PORT', sandboxPort, host);
  progress('The sandbox bank is ready');
  return urlOf(sandbox);
}

/** What the service works on: its database with all migrations, and its queue. */
interface ServiceConnections {
  directUrl: string;
  database: Database;
  secretBox: SecretBox;
  queue: QueueConnection;
}

async function connectService(
  { settings, log, progress, stopSteps }: Start,
  { service: databaseUrl }: OpenDatabases,
): Promise<ServiceConnections> {
  const { migrations, databaseLimits } = settings;
  const directUrl = settings.directDatabaseUrl ?? databaseUrl;
  await prepareServiceDatabase(directUrl, migrations, progress);
  const logLoss = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const pool = createPool(databaseUrl, logLoss, databaseLimits);
  if (settings.traces) {
    const { recordStatements } = await import('../platform/postgres/statement-spans.js');
    recordStatements(pool);
  }
  const database = new Database(pool, databaseLimits);
  stopSteps.push(() => database.close());
  // New ids go by the last reading of PostgreSQL's time.
  await database.now();
  const secretBox = await openSecretBox(database, settings, encryptedColumns);
  const queue = await connectQueue(
    {
      redisUrl: settings.redisUrl,
      databaseUrl: directUrl,
      poolSize: databaseLimits.queuePoolSize,
      connectTimeoutMs: databaseLimits.connectTimeoutMs,
      preparesSchema: migrations.isOnStart,
      wait: { totalMs: migrations.waitMs },
    },
    log,
  );
  stopSteps.push(() => queue.close());
  return { directUrl, database, secretBox, queue };
}

async function startService(
  { settings, log, progress, stopSteps, listening }: Start,
  databases: OpenDatabases,
  { directUrl, database, secretBox, queue }: ServiceConnections,
  sandboxUrl: string | null,
): Promise<Omit<RunningConcilia, 'sandboxUrl' | 'stop'>> {
  const addresses = new Addresses();
  addresses.bankBaseUrl = settings.bank.baseUrl ?? sandboxUrl ?? '';
  addresses.bankWhitelabelUrl = settings.bank.whitelabelUrl ?? sandboxUrl ?? '';
  const { port, sandboxPort, redisUrl } = settings;
  const urls = [databases.service, databases.sandbox, directUrl, redisUrl, addresses.bankBaseUrl];
  for (const own of [port, sandboxPort, ...urls.map(portOf)]) addresses.ownPorts.add(own);
  const service = await createHttpApplication(
    AppModule.with({ settings, addresses, log, database, queue, secretBox }),
    { log, reference: serviceReference, trustedProxies: settings.trustedProxies },
  );
  stopSteps.push(() => service.close());
  const health = service.get(Health);
  listening.push(health);
  // No request is cut off by the end of the jobs, which may take longer than the process has.
  stopSteps.push(async () => void (await service.getHttpAdapter().close()));
  health.identify(build, serviceRoles(settings));
  addChecks(health, database, queue);
  service.get(PoolMetrics).add('database', database.pool);
  observeProcess(service.get(Metrics));
  if (!settings.roles.includes('api')) serveOperatorsOnly(service);

  await listen(service, 'PORT', settings.port, settings.host);
  const url = urlOf(service);
  addresses.ownPorts.add(portOf(url));
  addresses.publicUrl = settings.publicUrl ?? url;
  const registered = settings.roles.includes('scheduler') ? registerWebhooks(service) : null;
  const background = Promise.race([
    registered,
    sleep(backgroundWaitMs, undefined, { ref: false }),
  ]).then(() => startBackground(service, settings));
  // Its failure is thrown below, once the registrations are made.
  background.catch(() => undefined);
  await registered;
  health.markStarted();
  progress('The service is ready');
  await background;
  // After it is ready: the link loads what the start itself does not need.
  const firstLink = await createFirstLink(service, settings, url);
  return { serviceUrl: url, firstLink, openDemo: () => openDemo(service, url) };
}

function addChecks(health: Health, database: Database, queue: QueueConnection): void {
  const diskSpace = new DiskSpace(database.pool);
  const all = roles.filter((role) => role !== 'sandbox');
  const ready = (text: string, isReady: () => Promise<boolean>) => async () =>
    (await isReady()) ? null : text;
  health.addCheck('database', {
    find: ready('PostgreSQL does not answer.', () => database.isReady()),
    ...{ needs: all, advice: 'Look whether it runs, and what DATABASE_URL reaches.' },
  });
  health.addCheck('disk', {
    find: ready('PostgreSQL has no disk space left.', () => diskSpace.isThere()),
    ...{ needs: all, advice: 'Enlarge its disk, or delete what is not needed there.' },
  });
  health.addCheck('the clock', {
    find: () => findClockDifference(() => database.now()),
    advice: 'Synchronize the clocks of both machines (NTP).',
  });
  // A request needs no queue: what it commits, a sweeper enqueues once the queue is there again.
  health.addCheck('queue', {
    find: ready('The queue does not respond.', async () =>
      Promise.race([
        queue.isReady().catch(() => false),
        sleep(queueAnswerMs, false, { ref: false }),
      ]),
    ),
    needs: ['worker', 'scheduler'],
    advice: 'Look whether Redis runs, or the PostgreSQL of the queue. Nothing is lost meanwhile.',
  });
}

async function openDemo(service: NestFastifyApplication, url: string): Promise<string> {
  const [opener] = await service.get(AccountsService, { strict: false }).list();
  if (!opener) return noDemo();
  await service.get(DemoShop, { strict: false }).open(opener);
  return `${url}/console/accounts/${demoSlug}`;
}

function noDemo(): Promise<never> {
  throw new AppError('not_found');
}

/**
 * While nobody can sign in to a development installation, each start makes a link for its first
 * person. It is for a service that only this machine reaches.
 */
async function createFirstLink(
  service: NestFastifyApplication,
  { bank, host, roles }: Settings,
  url: string,
): Promise<string | null> {
  const isDevelopment = bank.profile === 'sandbox' && bank.baseUrl === null;
  const isLoopback = ['127.0.0.1', '::1', 'localhost'].includes(host);
  if (!isDevelopment || !isLoopback || !roles.includes('api')) return null;
  const token = await service.get(Operators, { strict: false }).createFirstLink();
  return token && `${url}/console/link/${token}`;
}

async function registerWebhooks(service: NestFastifyApplication): Promise<void> {
  const firstPass = service.get(Timers).startFirst(webhookRegistrations);
  await Promise.race([firstPass, sleep(registrationWaitMs, undefined, { ref: false })]);
}

/** No request needs them: what a request enqueues waits in the queue until the workers take it. */
function startBackground(service: NestFastifyApplication, { roles }: Settings): void {
  if (roles.includes('worker')) service.get(JobWorkers).start();
  if (roles.includes('scheduler')) service.get(Timers).start();
}

/** Without the api role, a process serves only health and metrics. */
function serveOperatorsOnly(service: NestFastifyApplication): void {
  service
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', (request, reply, done) => {
      if (isForOperators(request)) done();
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
      `${setting}: cannot listen on port ${port} (${code}). Set another port, or free this one.`,
    ]);
  }
}

/** The application's own URL. One that listens on every interface is reached over loopback. */
function urlOf(application: NestFastifyApplication): string {
  const address = application.getHttpServer().address();
  if (address === null || typeof address === 'string') throw new Error('the server has no address');
  const isEverywhere = ['0.0.0.0', '::'].includes(address.address);
  const host = isEverywhere ? '127.0.0.1' : address.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

/** 0 for no URL, and for a URL with the default port of its scheme. */
function portOf(url: string | null): number {
  return url ? Number(new URL(url).port) : 0;
}
