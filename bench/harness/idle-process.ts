// A process of all roles, with the sandbox bank and two accounts, to which nothing happens.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { testDatabase } from '../../test/support/postgres.js';
import { until } from '../../test/support/until.js';
import { cpuOfProcess } from './server-costs.js';
import { countStatements } from './statement-counter.js';

export interface IdleFigures {
  /** Statements a second, by database. BullMQ's are those of the direct connections. */
  statements: Record<'service' | 'sandbox' | 'BullMQ', number>;
  /** CPU time in % of one core. */
  cpu: Record<'process' | 'PostgreSQL', number>;
}

export interface IdleProcess {
  /** What the process cost during the next seconds. */
  measure(seconds: number): Promise<IdleFigures>;
  /** Throws where the process was not at rest, but stopped or failing. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** The first syncs, closings and registrations have ended by then. */
const settlingMs = { short: 2_000, long: 45_000 };

export async function startIdleProcess(isShort: boolean): Promise<IdleProcess> {
  const [service, sandbox] = [await testDatabase('service'), await testDatabase('sandbox')];
  const counters = {
    service: await countStatements(service.url),
    sandbox: await countStatements(sandbox.url),
    BullMQ: await countStatements(service.url),
  };
  const concilia = await ConciliaProcess.with({
    DATABASE_URL: counters.service.url,
    SANDBOX_DATABASE_URL: counters.sandbox.url,
    DIRECT_DATABASE_URL: counters.BullMQ.url,
    CREDENTIALS_KEY: 'bench-key-'.repeat(4),
  });
  await concilia.start();
  await addAccount(concilia);
  await sleep(isShort ? settlingMs.short : settlingMs.long);
  const names = [service, sandbox].map(({ url }) => new URL(url).pathname.slice(1));
  const cpuUs = async () => {
    const { rows } = await service.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = ANY ($1) AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
      [names],
    );
    const servers = rows.map(({ pid }) => cpuOfProcess(pid));
    return {
      process: cpuOfProcess(concilia.pid),
      PostgreSQL: servers.reduce((sum, us) => sum + us, 0),
    };
  };
  const counts = () => mapValues(counters, (counter) => counter.statements());
  return {
    measure: async (seconds) => {
      const before = { cpu: await cpuUs(), statements: counts() };
      await sleep(seconds * 1_000);
      const [statements, cpu] = [counts(), await cpuUs()];
      return {
        statements: mapValues(
          statements,
          (count, name) => (count - before.statements[name]) / seconds,
        ),
        cpu: mapValues(cpu, (us, name) => (us - before.cpu[name]) / seconds / 10_000),
      };
    },
    check: async () => {
      const { status } = await concilia.callService('GET', '/health/ready');
      if (status !== 200) throw new Error(`the process is not ready: ${status}`);
      await until('the statement is synced still', () => isSyncedLately(service.pool));
    },
    stop: async () => {
      await concilia.stop();
      for (const counter of Object.values(counters)) counter.close();
      await Promise.all([service.drop(), sandbox.drop()]);
    },
  };
}

async function addAccount(concilia: ConciliaProcess): Promise<void> {
  const { status } = await concilia.callService(
    'POST',
    '/v1/accounts',
    { slug: 'second', credentials: { apiKey: 'sandbox-dev-key-2' } },
    { 'x-service-api-key': 'concilia-dev-admin' },
  );
  if (status !== 201) throw new Error(`the second account was not added: ${status}`);
}

async function isSyncedLately(pool: Awaited<ReturnType<typeof testDatabase>>['pool']) {
  const { rows } = await pool.query<{ accounts: number }>(
    `SELECT count(*)::int AS accounts FROM statement_state
     WHERE synced_at > clock_timestamp() - interval '30 seconds'`,
  );
  return rows[0]?.accounts === 2;
}

function mapValues<Name extends string, Value, Result>(
  values: Record<Name, Value>,
  map: (value: Value, name: Name) => Result,
): Record<Name, Result> {
  const names = Object.keys(values) as Name[];
  return Object.fromEntries(names.map((name) => [name, map(values[name], name)])) as never;
}
