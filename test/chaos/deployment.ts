// The processes of a round: one sandbox bank, and one or two services on one database. Owns their
// databases, kills and restarts the processes, and empties the queue.
import { bankProfileOf } from '../../src/bank/profiles.js';
import { Database } from '../../src/platform/postgres/database.service.js';
import {
  describeDifference,
  Recomputation,
} from '../../src/reconciliation/runs/recomputation.service.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { nextBusinessHour } from '../../src/brazil/business-hours.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import type { ChaosFault } from './faults.js';

const hourMs = 3_600_000;
const bankOutageMs = 1_000;

export class ChaosDeployment {
  private earlierOutput = '';

  private constructor(
    private readonly databases: { service: TestDatabase; bank: TestDatabase },
    readonly bank: ConciliaProcess,
    readonly services: ConciliaProcess[],
  ) {}

  static async open(
    serviceCount: number,
    settings: Record<string, string> = {},
  ): Promise<ChaosDeployment> {
    const databases = {
      service: await testDatabase('service'),
      bank: await testDatabase('sandbox'),
    };
    const bank = await ConciliaProcess.with({
      ROLES: 'sandbox',
      SANDBOX_DATABASE_URL: databases.bank.url,
    });
    await bank.start();
    await setClockToBusinessHours(bank);
    const services: ConciliaProcess[] = [];
    for (let count = 0; count < serviceCount; count += 1) {
      const first = services[0];
      const service = await ConciliaProcess.with({
        ROLES: 'api,worker,scheduler',
        DATABASE_URL: databases.service.url,
        BANK_PROFILE: 'sandbox',
        BANK_BASE_URL: bank.bankUrl,
        SYNC_INTERVAL_MS: '1000',
        ...(first ? { PUBLIC_URL: first.serviceUrl } : {}),
        ...settings,
      });
      await service.start();
      services.push(service);
    }
    return new ChaosDeployment(databases, bank, services);
  }

  /** The first service. */
  get service(): ConciliaProcess {
    const [service] = this.services;
    if (!service) throw new Error('the deployment has no service');
    return service;
  }

  /** Ends one service by kill -9 and starts it again. The index counts through the services. */
  async killAndRestartService(index: number): Promise<void> {
    const service = this.services[index % this.services.length];
    if (!service) return;
    await service.kill();
    this.earlierOutput += service.printed;
    await service.start();
  }

  /** Ends the bank by kill -9, and starts it after a pause with the given faults. */
  async killAndRestartBank(faults: ChaosFault[]): Promise<void> {
    await this.bank.kill();
    await sleep(bankOutageMs);
    await this.bank.start();
    await this.injectFaults(faults);
  }

  async injectFaults(faults: ChaosFault[]): Promise<void> {
    for (const fault of faults) {
      const { status } = await this.bank.callBank('POST', '/sandbox/faults', fault);
      if (status !== 200)
        throw new Error(`fault ${fault.kind} at ${fault.endpoint} was refused: HTTP ${status}`);
    }
  }

  /** Empties the tables of the queue while the services use them. False if there are none yet. */
  async wipeQueue(): Promise<boolean> {
    const { rows } = await this.databases.service.pool.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'bullmq'`,
    );
    if (rows.length === 0) return false;
    const tables = rows.map(({ tablename }) => `bullmq."${tablename}"`).join(', ');
    // TRUNCATE can fail in a deadlock with the queue's own work. It is repeated until it succeeds.
    return until('the queue is wiped', async () => {
      await this.databases.service.pool.query(`TRUNCATE ${tables}`);
      return true;
    });
  }

  /** Everything that the services have printed. */
  get printed(): string {
    return this.earlierOutput + this.services.map(({ printed }) => printed).join('');
  }

  /** Outcomes and breaks that are stored otherwise than the facts mean. */
  async listOutcomeDifferences(): Promise<string[]> {
    const profile = bankProfileOf({ profile: 'sandbox' });
    const database = new Database(this.databases.service.pool);
    const recomputed = await new Recomputation(database, profile).compare();
    await database.prisma.$disconnect();
    return recomputed.flatMap(({ differences }) => differences.map(describeDifference));
  }

  /** Tables of the service and of its queue that contain text of the pattern. */
  async listTablesContaining(pattern: string): Promise<string[]> {
    const { pool } = this.databases.service;
    const { rows } = await pool.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const tables: string[] = [];
    for (const { name } of rows) {
      const found = await pool.query(`SELECT 1 FROM ${name} t WHERE t::text ~ $1 LIMIT 1`, [
        pattern,
      ]);
      if (found.rows.length > 0) tables.push(name);
    }
    return tables;
  }

  async close(): Promise<void> {
    for (const process of [...this.services, this.bank]) await process.stop();
    await this.databases.service.drop();
    await this.databases.bank.drop();
  }
}

const hours = { open: 7, close: 20 };
const isOpen = (at: Date) => nextBusinessHour(at, hours).getTime() === at.getTime();

/**
 * Moves the bank's clock into business hours, with at least one hour left: bills are paid on
 * business days only.
 */
async function setClockToBusinessHours(bank: ConciliaProcess): Promise<void> {
  const { body } = await bank.callBank<{ now: string }>('GET', '/sandbox/clock');
  const now = new Date(body.now);
  const inOneHour = new Date(now.getTime() + hourMs);
  if (isOpen(now) && isOpen(inOneHour)) return;
  const open = nextBusinessHour(inOneHour, hours);
  await bank.callBank('POST', '/sandbox/clock', { now: open.toISOString() });
}

/**
 * Repeats `work`, with a pause before each repetition, until `end` is called. `end` waits for the
 * current repetition and throws if one has failed.
 */
export function repeatUntilEnded(pauseMs: number, work: (repetition: number) => Promise<unknown>) {
  let isEnding = false;
  const running = (async () => {
    for (let repetition = 0; ; repetition += 1) {
      for (let left = pauseMs; left > 0 && !isEnding; left -= 100) await sleep(Math.min(left, 100));
      if (isEnding) return;
      await work(repetition);
    }
  })();
  // A failure is thrown by `end`, not as an unhandled rejection.
  running.catch(() => undefined);
  return {
    end: async () => {
      isEnding = true;
      await running;
    },
  };
}
