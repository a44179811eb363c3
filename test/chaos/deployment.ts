// The processes of a round: one sandbox bank, one or two services on one database, and what is done to them.
import { setTimeout as sleep } from 'node:timers/promises';
import { nextBusinessHour } from '../../src/brazil/business-hours.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import type { WantedFault } from './faults.js';

const hourMs = 3_600_000;
const bankAwayMs = 1_000;

export class House {
  private earlierOutput = '';

  private constructor(
    private readonly databases: { service: TestDatabase; bank: TestDatabase },
    readonly bank: ConciliaProcess,
    readonly services: ConciliaProcess[],
  ) {}

  static async open(services: number, settings: Record<string, string> = {}): Promise<House> {
    const databases = {
      service: await testDatabase('service'),
      bank: await testDatabase('sandbox'),
    };
    const bank = await ConciliaProcess.with({
      ROLES: 'sandbox',
      SANDBOX_DATABASE_URL: databases.bank.url,
    });
    await bank.start();
    await beginInBusinessHours(bank);
    const processes: ConciliaProcess[] = [];
    for (let count = 0; count < services; count += 1) {
      const first = processes[0];
      const process = await ConciliaProcess.with({
        ROLES: 'api,worker,scheduler',
        DATABASE_URL: databases.service.url,
        BANK_PROFILE: 'sandbox',
        BANK_BASE_URL: bank.bankUrl,
        SYNC_INTERVAL_MS: '1000',
        ...(first ? { PUBLIC_URL: first.serviceUrl } : {}),
        ...settings,
      });
      await process.start();
      processes.push(process);
    }
    return new House(databases, bank, processes);
  }

  get service(): ConciliaProcess {
    const [service] = this.services;
    if (!service) throw new Error('there is no service');
    return service;
  }

  /** kill -9 of one service, which then starts again. */
  async killAndRestart(place: number): Promise<void> {
    const victim = this.services[place % this.services.length];
    if (!victim) return;
    await victim.kill();
    this.earlierOutput += victim.printed;
    await victim.start();
  }

  /** kill -9 of the bank, which is away for a moment and then starts again with the faults of the round. */
  async killAndRestartBank(faults: WantedFault[]): Promise<void> {
    await this.bank.kill();
    await sleep(bankAwayMs);
    await this.bank.start();
    await this.askForFaults(faults);
  }

  async askForFaults(faults: WantedFault[]): Promise<void> {
    for (const fault of faults) {
      const { status } = await this.bank.callBank('POST', '/sandbox/faults', fault);
      if (status !== 200) throw new Error(`${fault.kind} at ${fault.endpoint} answers ${status}`);
    }
  }

  /** Empties the queue under the feet of whoever uses it; true when there was one. */
  async wipeQueue(): Promise<boolean> {
    const { rows } = await this.databases.service.pool.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'bullmq'`,
    );
    if (rows.length === 0) return false;
    const tables = rows.map(({ tablename }) => `bullmq."${tablename}"`).join(', ');
    // A truncation may meet the queue's own work and lose: it is made again until it holds.
    return until('the queue is wiped', async () => {
      await this.databases.service.pool.query(`TRUNCATE ${tables}`);
      return true;
    });
  }

  /** All that the services have printed. */
  get printed(): string {
    return this.earlierOutput + this.services.map(({ printed }) => printed).join('');
  }

  /** Tables of the service, its queue's among them, that hold a text of the pattern. */
  async tablesThatHold(pattern: string): Promise<string[]> {
    const { pool } = this.databases.service;
    const { rows } = await pool.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const holding: string[] = [];
    for (const { name } of rows) {
      const found = await pool.query(`SELECT 1 FROM ${name} t WHERE t::text ~ $1 LIMIT 1`, [
        pattern,
      ]);
      if (found.rows.length > 0) holding.push(name);
    }
    return holding;
  }

  async close(): Promise<void> {
    for (const process of [...this.services, this.bank]) await process.stop();
    await this.databases.service.drop();
    await this.databases.bank.drop();
  }
}

/** Bills are only paid on business days: the bank's clock is moved into one, with hours to go. */
async function beginInBusinessHours(bank: ConciliaProcess): Promise<void> {
  const { body } = await bank.callBank<{ now: string }>('GET', '/sandbox/clock');
  const soon = new Date(Date.parse(body.now) + hourMs);
  const open = nextBusinessHour(soon, { open: 7, close: 20 });
  if (open.getTime() === soon.getTime()) return;
  await bank.callBank('POST', '/sandbox/clock', { now: open.toISOString() });
}

/** Does the work again and again, with a pause before each time, until `end` is called; that waits for the last. */
export function again(pauseMs: number, work: (time: number) => Promise<unknown>) {
  let isEnding = false;
  const running = (async () => {
    for (let time = 0; ; time += 1) {
      for (let left = pauseMs; left > 0 && !isEnding; left -= 100) await sleep(Math.min(left, 100));
      if (isEnding) return;
      await work(time);
    }
  })();
  // Its failure is told by `end`.
  running.catch(() => undefined);
  return {
    end: async () => {
      isEnding = true;
      await running;
    },
  };
}
