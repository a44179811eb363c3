// B3: how fast the histories of several accounts are read and explained by one worker process and
// by two, on both backends of the queue. The processes are started for each round, and warmed up.
// Two are faster only where one leaves cores idle: how busy the machine was is reported beside it.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConciliaProcess, freePort } from '../../test/support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import { hasRedis, TestRedis } from '../../test/support/redis.js';
import { until } from '../../test/support/until.js';
import { AccountBank, webhookSecret } from '../harness/account-bank.js';
import type { Bench, Contest, Size } from '../harness/bench.js';
import { busyBeside, measureBusy } from '../harness/busy-cores.js';
import { measuredTogether } from '../harness/rounds.js';

const accountsAtOnce = 8;
/** What follows the last decision of the warm-up, such as a look at the balance. */
const settlingMs = 2_000;
const admin = { 'x-service-api-key': 'concilia-dev-admin' };
const workers = { 'one worker': 1, 'two workers': 2 };
type Workers = keyof typeof workers;
const backends = ['PostgreSQL', ...(hasRedis ? ['Redis'] : [])];
const figuresOf = (count: Workers, backend: string) => ({
  perSecond: `${count}, queue in ${backend}`,
  busyPercent: busyBeside(`${count}, queue in ${backend}`),
});

interface Explained {
  perSecond: number;
  /** Of the time of all cores of the machine. */
  busyPercent: number;
}

/** One process that serves requests and asks for jobs, and those that work them. */
class Deployment {
  private accounts = 0;
  private explained = 0;

  private constructor(
    private readonly database: TestDatabase,
    private readonly redis: TestRedis | null,
    private readonly settings: Record<string, string>,
    private readonly front: ConciliaProcess,
    private readonly bank: AccountBank,
  ) {}

  static async open(backend: string): Promise<Deployment> {
    const [database, bankPort] = [await testDatabase('service'), await freePort()];
    const redis = backend === 'Redis' ? await TestRedis.start() : null;
    const settings = {
      DATABASE_URL: database.url,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      ...{ BANK_PROFILE: 'sandbox', BANK_BASE_URL: `http://127.0.0.1:${bankPort}` },
      ...{ SYNC_INTERVAL_MS: '3600000', CREDENTIALS_KEY: 'bench-key-'.repeat(4) },
      PUBLIC_URL: 'http://127.0.0.1:9',
    };
    const front = await ConciliaProcess.with({ ...settings, ROLES: 'api,scheduler' });
    const bank = await AccountBank.start(bankPort, front.serviceUrl);
    await front.start();
    return new Deployment(database, redis, settings, front, bank);
  }

  async measure(count: number, lines: number): Promise<Explained> {
    const started = Array.from({ length: count }, () =>
      ConciliaProcess.with({ ...this.settings, ROLES: 'worker' }),
    );
    const processes = await Promise.all(started);
    try {
      await Promise.all(processes.map((one) => one.start()));
      await this.explain(lines);
      await sleep(settlingMs);
      return await this.explain(lines);
    } finally {
      for (const one of processes) await one.stop();
    }
  }

  /** New accounts with so many lines each, until all are explained. */
  private async explain(lines: number): Promise<Explained> {
    const names = Array.from(
      { length: accountsAtOnce },
      (_, index) => `a-${this.accounts + index}`,
    );
    this.accounts += accountsAtOnce;
    this.explained += accountsAtOnce * lines;
    for (const name of names) this.bank.addLines(name, lines);
    const busy = measureBusy();
    const startedAt = performance.now();
    await Promise.all(names.map((name) => this.addAccount(name)));
    await until('every line is explained', () => this.areExplained(names, lines), 600_000);
    const perSecond = (accountsAtOnce * lines * 1_000) / (performance.now() - startedAt);
    return { perSecond, busyPercent: busy() };
  }

  private async addAccount(slug: string): Promise<void> {
    const account = {
      slug,
      registersWebhooks: false,
      credentials: { apiKey: slug, webhookSecret },
    };
    const { status } = await this.front.callService('POST', '/v1/accounts', account, admin);
    if (status >= 300) throw new Error(`account ${slug} got ${status}`);
  }

  private async areExplained(names: readonly string[], lines: number): Promise<boolean> {
    const { rows } = await this.database.pool.query<{ done: number }>(
      `SELECT count(*)::int AS done FROM bank_account a
       JOIN statement_state s ON s.account_id = a.id
       JOIN reconciliation_state r ON r.account_id = a.id
       WHERE a.slug = ANY ($1) AND s.line_count = $2 AND s.is_anchored AND r.decided_arrival =
         (SELECT max(arrival) FROM statement_line WHERE account_id = a.id)`,
      [names, lines],
    );
    return rows[0]?.done === names.length;
  }

  /** Each line is stored once, and has one break. */
  async check(): Promise<void> {
    const { rows } = await this.database.pool.query<{ lines: string; inBreak: string }>(
      `SELECT count(*) AS lines, count(*) FILTER (WHERE breaks = 1) AS "inBreak"
       FROM statement_line t CROSS JOIN LATERAL (
         SELECT count(*) AS breaks FROM break
         WHERE account_id = t.account_id AND nsu = t.nsu AND kind = 'unexpected'
       ) found`,
    );
    const { lines, inBreak } = rows[0] ?? {};
    if (Number(lines) !== this.explained || Number(inBreak) !== this.explained)
      throw new Error(`${lines} lines, ${inBreak} of them in a break, of ${this.explained}`);
  }

  async close(): Promise<void> {
    await this.front.stop();
    await this.bank.stop();
    await this.redis?.stop();
    await this.database.drop();
  }
}

async function openContest({ isShort, lines }: Size): Promise<Contest> {
  const each = lines ?? (isShort ? 50 : 5_000);
  const deployments = new Map<string, Deployment>();
  for (const backend of backends) deployments.set(backend, await Deployment.open(backend));
  const contestants: Contest['contestants'] = {};
  for (const [backend, deployment] of deployments)
    for (const [count, processes] of Object.entries(workers)) {
      const names = figuresOf(count as Workers, backend);
      const measure = async () => {
        const { perSecond, busyPercent } = await deployment.measure(processes, each);
        return { [names.perSecond]: perSecond, [names.busyPercent]: busyPercent };
      };
      Object.assign(contestants, measuredTogether(Object.values(names), measure));
    }
  return {
    contestants,
    check: async () => {
      for (const deployment of deployments.values()) await deployment.check();
    },
    close: async () => {
      for (const deployment of deployments.values()) await deployment.close();
    },
  };
}

export const bench: Bench = {
  id: 'B3',
  title: 'Histories of eight accounts read and explained, by worker processes',
  unit: 'lines/s',
  goals: backends.map((backend) => ({
    of: figuresOf('two workers', backend).perSecond,
    against: figuresOf('one worker', backend).perSecond,
    atLeast: 1.4,
  })),
  // A round starts processes and takes half a minute.
  rounds: 3,
  open: openContest,
};
