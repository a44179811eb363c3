// G9: charges and transfers with a persisted key, 64 at once, at a bank that answers in 20 ms and
// in 0 ms. The service against a plain forwarder that makes two group commits a request on the same
// PostgreSQL. Reported beside it: the forwarder with the rows of the service in place of its own,
// which is what a service without any logic could reach, and direct calls of the bank.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import { startHttpLoad, type HttpLoadProcess } from '../harness/http-load.js';

const connections = 64;
const delaysMs = [20, 0] as const;
const contenders = ['service', 'forwarder', 'forwarder, same rows', 'direct'] as const;
type Contender = (typeof contenders)[number];

const requests = {
  charges: {
    path: '/baas/v1/charges',
    body: JSON.stringify({
      ...{ type: 'BANKSLIP', correlationId: 'order-{number}', yourNumber: '1' },
      ...{ dueDate: '2030-12-31', Amount: 149.9 },
      payer: { name: 'Maria da Silva', document: '12345678909' },
    }),
  },
  transfers: {
    path: '/baas/api/v2/transfers',
    body: JSON.stringify({
      ...{ amount: 149.9, description: 'Invoice {number}' },
      beneficiary: {
        ...{ number: '7654321', branch: '0001', type: 'CURRENT', participantIspb: '00000000' },
        holder: { document: '12345678909', name: 'Maria da Silva', type: 'NATURAL' },
      },
    }),
  },
};
type Kind = keyof typeof requests;
const kinds = Object.keys(requests) as Kind[];

interface YardstickProcess {
  port: number;
  stop(): Promise<void>;
}

/** The programs announce their port once they listen. */
async function startYardstick(
  name: string,
  settings: Record<string, string> = {},
): Promise<YardstickProcess> {
  const program = new URL(`../yardsticks/${name}.ts`, import.meta.url);
  const child: ChildProcess = fork(program, { env: { ...process.env, ...settings } });
  const [port] = (await once(child, 'message')) as [number];
  const stop = async () => {
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  };
  return { port, stop };
}

/** Only what serves requests: no worker, no timer. */
const serviceSettings = (databaseUrl: string, bankUrl: string) => ({
  ...{ DATABASE_URL: databaseUrl, ROLES: 'api', BANK_PROFILE: 'sandbox', BANK_BASE_URL: bankUrl },
  ...{ BANK_RATE_LIMIT_PER_SECOND: '1000000', PUBLIC_URL: 'http://127.0.0.1:9' },
  ...{ RATE_LIMITS_PER_KEY: 'writes=0,money-out=0' },
  ...{ RATE_LIMITS_PER_ACCOUNT: 'writes=0,money-out=0', RATE_LIMITS_PER_ADDRESS: 'requests=0' },
});

class OperationsContest implements Contest {
  readonly contestants: Contest['contestants'] = {};
  /** How many requests each of them has answered. */
  private readonly answered: Record<Contender, number> = {
    ...{ service: 0, forwarder: 0, 'forwarder, same rows': 0, direct: 0 },
  };

  constructor(
    private readonly parts: {
      load: HttpLoadProcess;
      bank: YardstickProcess;
      forwarder: YardstickProcess;
      forwarderOfRows: YardstickProcess;
      service: ConciliaProcess;
      databases: Record<'service' | 'forwarder' | 'rows', TestDatabase>;
    },
    roundMs: number,
  ) {
    for (const kind of kinds)
      for (const delayMs of delaysMs)
        for (const contender of contenders)
          this.contestants[nameOf(kind, delayMs, contender)] = () =>
            this.run(kind, delayMs, contender, roundMs);
  }

  /** V8 compiles the code of a request while thousands of them are served. */
  async warmUp(forMs: number): Promise<void> {
    for (const kind of kinds)
      for (const contender of contenders) await this.run(kind, 0, contender, forMs);
    // The plans of its statements were made for empty tables.
    await read(this.parts.databases.rows, 'ANALYZE');
  }

  private async run(
    kind: Kind,
    delayMs: number,
    contender: Contender,
    forMs: number,
  ): Promise<number> {
    const { load, bank, forwarder, forwarderOfRows, service } = this.parts;
    await fetch(`http://127.0.0.1:${bank.port}/delay/${delayMs}`, { method: 'PUT' });
    const servicePort = Number(new URL(service.serviceUrl).port);
    const ports = {
      ...{ service: servicePort, forwarder: forwarder.port, direct: bank.port },
      'forwarder, same rows': forwarderOfRows.port,
    };
    const { failed, statuses, ...result } = await load.run({
      ...{ port: ports[contender], connections, forMs },
      ...requests[kind],
      headers: {
        'x-service-api-key': 'concilia-dev-key',
        idempotencykey: `${contender.replaceAll(/\W+/g, '-')}-{number}`,
      },
    });
    if (failed > 0) throw new Error(`${contender} answered ${JSON.stringify(statuses)}`);
    this.answered[contender] += result.requests;
    return result.perSecond;
  }

  /** Each answered request is one operation with one key, and was one call at the bank. */
  async check(): Promise<void> {
    const { bank, databases } = this.parts;
    const response = await fetch(`http://127.0.0.1:${bank.port}/calls`);
    const { keys } = (await response.json()) as { keys: Record<string, number> };
    const stored = await read<{ id: string; state: string; identities: number; key: string }>(
      databases.service,
      `SELECT o.id, o.state, o.idempotency_key AS key,
              (SELECT count(*)::int FROM operation_identity i
               WHERE i.account_id = o.account_id AND i.operation_id = o.id) AS identities
       FROM operation o`,
    );
    assertEqual('operations', stored.length, this.answered.service);
    assertEqual('keys', new Set(stored.map(({ key }) => key)).size, this.answered.service);
    for (const { id, state, identities } of stored) {
      assertEqual(`calls of operation ${id}`, keys[id], 1);
      if (state !== 'succeeded' || identities === 0)
        throw new Error(`operation ${id} is ${state} and has ${identities} identities`);
    }
    const { forwarder, rows } = databases;
    for (const [contender, database, table] of [
      ['forwarder', forwarder, 'forwarded_request WHERE status = 200'],
      ['forwarder, same rows', rows, 'copy.operation WHERE response_status = 200'],
    ] as const) {
      const forwarded = await read<{ id: string }>(database, `SELECT id FROM ${table}`);
      assertEqual(`requests of the ${contender}`, forwarded.length, this.answered[contender]);
      for (const { id } of forwarded) assertEqual(`calls of request ${id}`, keys[id], 1);
    }
  }

  async close(): Promise<void> {
    const { load, bank, forwarder, forwarderOfRows, service, databases } = this.parts;
    await load.stop();
    await service.stop();
    await forwarder.stop();
    await forwarderOfRows.stop();
    await bank.stop();
    for (const database of Object.values(databases)) await database.drop();
  }
}

function nameOf(kind: Kind, delayMs: number, contender: Contender): string {
  return `${kind} at ${delayMs} ms, ${contender}`;
}

function assertEqual(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)}, not ${String(expected)}`);
}

async function read<Row extends pg.QueryResultRow>(
  { url }: TestDatabase,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

export const bench: Bench = {
  id: 'G9',
  title: 'charges and transfers with a persisted key, 64 at once',
  unit: 'requests/s',
  goals: kinds.flatMap((kind) =>
    delaysMs.map((delayMs) => ({
      of: nameOf(kind, delayMs, 'service'),
      against: nameOf(kind, delayMs, 'forwarder'),
      atLeast: 0.7,
    })),
  ),
  open: async ({ isShort }) => {
    const databases = {
      ...{ service: await testDatabase(), forwarder: await testDatabase() },
      rows: await testDatabase('service'),
    };
    const bank = await startYardstick('stub-bank');
    const bankUrl = `http://127.0.0.1:${bank.port}`;
    const forwarder = await startYardstick('forwarder', {
      ...{ BANK_URL: bankUrl, DATABASE_URL: databases.forwarder.url },
    });
    const forwarderOfRows = await startYardstick('forwarder', {
      ...{ BANK_URL: bankUrl, DATABASE_URL: databases.rows.url },
      SERVICE_DATABASE_URL: databases.service.url,
    });
    const service = await ConciliaProcess.with(serviceSettings(databases.service.url, bankUrl));
    await service.start();
    const load = await startHttpLoad();
    const parts = { load, bank, forwarder, forwarderOfRows, service, databases };
    const contest = new OperationsContest(parts, isShort ? 300 : 2_000);
    await contest.warmUp(isShort ? 150 : 4_000);
    return contest;
  },
};
