// The product with many bank accounts, of which some get payments: a bank of its own process, one
// process with every role, and an endpoint for each account that is paid. A payment ends when its
// signed event is received.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConciliaProcess, freePort } from '../../test/support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import { until } from '../../test/support/until.js';
import { AccountBank, webhookSecret, type Paid } from './account-bank.js';
import { cpuOfProcess } from './server-costs.js';
import { countStatements, type StatementCounter } from './statement-counter.js';

const admin = { 'x-service-api-key': 'concilia-dev-admin' };
const eventTimeoutMs = 60_000;

/** What was spent since the start. */
export interface SpentCosts {
  /** Those of the service, and those of BullMQ's PostgreSQL backend. */
  statements: number;
  queueStatements: number;
  bankCalls: number;
  /** Of the process, and of PostgreSQL for it. */
  processCpuMs: number;
  serverCpuMs: number;
}

interface Counters {
  service: StatementCounter;
  queue: StatementCounter;
}

export class ManyAccounts {
  private readonly paidAt = new Map<string, number>();
  private readonly waiting = new Map<string, (latencyMs: number) => void>();
  private readonly begun: ((paid: Paid) => void)[] = [];
  private events = 0;
  private readonly seen = new Set<string>();

  private constructor(
    readonly bank: AccountBank,
    readonly database: TestDatabase,
    readonly process: ConciliaProcess,
    private readonly receiver: Server,
    private readonly counters: Counters | null,
  ) {}

  /** `isCounted`: the statements are counted, on their way through this process. */
  static async open({ isCounted = false } = {}): Promise<ManyAccounts> {
    const [database, bankPort] = [await testDatabase('service'), await freePort()];
    const counters = isCounted
      ? { service: await countStatements(database.url), queue: await countStatements(database.url) }
      : null;
    const process = await ConciliaProcess.with({
      ROLES: 'api,worker,scheduler',
      DATABASE_URL: counters?.service.url ?? database.url,
      DIRECT_DATABASE_URL: counters?.queue.url ?? database.url,
      ...{
        BANK_PROFILE: 'sandbox',
        BANK_BASE_URL: `http://127.0.0.1:${bankPort}`,
        SYNC_INTERVAL_MS: '60000',
      },
      CREDENTIALS_KEY: 'bench-key-'.repeat(4),
    });
    const bank = await AccountBank.start(bankPort, process.serviceUrl);
    await process.start();
    const receiver = createServer();
    const opened = new ManyAccounts(bank, database, process, receiver, counters);
    receiver.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        opened.receive(request.url?.slice(1) ?? '', Buffer.concat(chunks).toString());
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    bank.onPaid((paid) => opened.begin(paid));
    return opened;
  }

  /** Adds accounts, and waits until each is synced. */
  async addAccounts(names: readonly string[]): Promise<void> {
    const queue = [...names];
    const addInTurn = async () => {
      for (let name = queue.shift(); name; name = queue.shift())
        await this.call('POST', '/v1/accounts', {
          ...{ slug: name, registersWebhooks: false },
          credentials: { apiKey: name, webhookSecret },
        });
    };
    await Promise.all(Array.from({ length: 4 }, addInTurn));
    await until(
      'every account is synced',
      async () => {
        const { rows } = await this.database.pool.query<{ accounts: number }>(
          'SELECT count(*)::int AS accounts FROM statement_state WHERE synced_at IS NOT NULL',
        );
        return (rows[0]?.accounts ?? 0) > names.length;
      },
      600_000,
    );
  }

  /** Reports the account's payments to an endpoint of its own. */
  async subscribe(name: string): Promise<void> {
    const { key } = await this.call<{ key: string }>('POST', `/v1/accounts/${name}/keys`, {
      ...{ name: 'bench', scopes: ['webhooks'] },
    });
    const { port } = this.receiver.address() as AddressInfo;
    const endpoint = { url: `http://127.0.0.1:${port}/${name}` };
    await this.call(
      'POST',
      '/v1/webhook-endpoints',
      { ...endpoint, eventTypes: ['transaction.unexpected'] },
      { 'x-service-api-key': key },
    );
  }

  /** The milliseconds from the payment at the bank to its event. */
  async pay(account: string): Promise<number> {
    const paid = new Promise<Paid>((resolve) => this.begun.push(resolve));
    this.bank.pay(account);
    const { nsu } = await paid;
    return new Promise<number>((resolve, reject) => {
      const key = `${account} ${nsu}`;
      const timeout = setTimeout(() => reject(new Error(`no event of ${key}`)), eventTimeoutMs);
      this.waiting.set(key, (latencyMs) => {
        clearTimeout(timeout);
        resolve(latencyMs);
      });
    });
  }

  /** The CPU time of PostgreSQL is that of the sessions that are open now. */
  async spentCosts(): Promise<SpentCosts> {
    const { rows } = await this.database.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend'
         AND pid <> pg_backend_pid()`,
    );
    const serverCpu = rows.reduce((sum, { pid }) => sum + cpuOfProcess(pid), 0);
    return {
      statements: this.counters?.service.statements() ?? NaN,
      queueStatements: this.counters?.queue.statements() ?? NaN,
      bankCalls: await this.bank.countCalls(),
      processCpuMs: cpuOfProcess(this.process.pid) / 1_000,
      serverCpuMs: serverCpu / 1_000,
    };
  }

  /** Throws when a payment was lost or reported twice. */
  async check(): Promise<void> {
    const { rows } = await this.database.pool.query<{ lines: number; breaks: number }>(
      `SELECT (SELECT count(*)::int FROM statement_line) AS lines,
              (SELECT count(*)::int FROM break WHERE kind = 'unexpected') AS breaks`,
    );
    const [found] = rows;
    const payments = this.paidAt.size;
    if (found?.lines !== payments || found.breaks !== payments || this.seen.size !== payments)
      throw new Error(`${payments} payments, ${this.seen.size} reported: ${JSON.stringify(found)}`);
    if (this.events !== payments) throw new Error(`${this.events} events of ${payments} payments`);
  }

  async close(): Promise<void> {
    await this.process.stop();
    await this.bank.stop();
    this.counters?.service.close();
    this.counters?.queue.close();
    this.receiver.closeAllConnections();
    await new Promise((resolve) => this.receiver.close(resolve));
    await this.database.drop();
  }

  private begin(paid: Paid): void {
    this.paidAt.set(`${paid.account} ${paid.nsu}`, paid.paidAt);
    this.begun.shift()?.(paid);
  }

  private receive(account: string, body: string): void {
    const at = Date.now();
    const { data } = JSON.parse(body) as { data: { nsu: number } };
    const key = `${account} ${data.nsu}`;
    this.events += 1;
    this.seen.add(key);
    this.waiting.get(key)?.(at - (this.paidAt.get(key) ?? NaN));
    this.waiting.delete(key);
  }

  private async call<Body>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = admin,
  ): Promise<Body> {
    const response = await this.process.callService<Body>(method, path, body, headers);
    if (response.status >= 300)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }
}
