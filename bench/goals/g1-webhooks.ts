// G1: how many webhooks a second are stored, against the ordinary design (Nest, Express, Prisma
// and `queue.add`) and against the physical limit, a bare server with group commit. 64 connections,
// bodies of 1 KB, each with ids of its own; the response comes after the commit.
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest, Size } from '../harness/bench.js';
import { startHttpLoad, type HttpLoad, type HttpLoadProcess } from '../harness/http-load.js';
import { startYardstick } from '../harness/yardstick-server.js';

const secret = 'the-secret-of-the-bank';
const eventType = 'PIX_RECEIVED';
const bodyBytes = 1_024;
/** A process with the role api calls no bank to store a webhook. */
const absentBank = {
  ...{ BANK_PROFILE: 'sandbox', BANK_BASE_URL: 'http://127.0.0.1:1' },
  PUBLIC_URL: 'http://127.0.0.1:1',
};

/** One server, its database, and how many webhooks it has answered with success. */
interface Contestant {
  database: TestDatabase;
  target: Pick<HttpLoad, 'port' | 'path'>;
  /**
   * A process with all roles would go on to process what it stored, at the cost of the others, so
   * it runs during its own rounds only. Null for a server that costs nothing while it is idle.
   */
  process: ConciliaProcess | null;
  table: string;
  accepted: number;
  stop(): Promise<void>;
}

async function openContest(size: Size): Promise<Contest> {
  const load = await startHttpLoad();
  const contestants: Record<string, Contestant> = {
    'role api': await openApi(),
    'all roles': await openProduct({}),
    'group commit': await openYardstick('webhooks-group-commit.ts', 'bare_webhook'),
    ordinary: await openYardstick('webhooks-ordinary.ts', 'webhook_event'),
  };
  const all = Object.values(contestants);
  return {
    contestants: Object.fromEntries(
      Object.entries(contestants).map(([name, contestant]) => [
        name,
        () => measure(load, contestant, size),
      ]),
    ),
    check: async () => {
      for (const contestant of all) await check(contestant);
    },
    close: async () => {
      await load.stop();
      for (const { stop, database } of all) {
        await stop();
        await database.drop();
      }
    },
  };
}

async function openApi(): Promise<Contestant> {
  const contestant = await openProduct({ ROLES: 'api', ...absentBank });
  await contestant.process?.start();
  return { ...contestant, process: null };
}

async function openProduct(roles: Record<string, string>): Promise<Contestant> {
  const [database, sandbox] = [await testDatabase('service'), await testDatabase('sandbox')];
  const process = await ConciliaProcess.with({
    ...{ DATABASE_URL: database.url, SANDBOX_DATABASE_URL: sandbox.url },
    ...{ BANK_WEBHOOK_SECRET: secret, CREDENTIALS_KEY: 'bench-key-'.repeat(4), ...roles },
  });
  const port = Number(new URL(process.serviceUrl).port);
  const stop = async () => {
    await process.stop();
    await sandbox.drop();
  };
  const target = { port, path: `/webhooks/bank/main/${eventType}` };
  return { database, target, process, table: 'webhook_event', accepted: 0, stop };
}

async function openYardstick(program: string, table: string): Promise<Contestant> {
  const database = await testDatabase(table === 'webhook_event' ? 'service' : undefined);
  const settings = { databaseUrl: database.url, secret, accountId: '1' };
  const { port, stop } = await startYardstick(program, settings);
  const target = { port, path: '/webhooks' };
  return { database, target, process: null, table, accepted: 0, stop };
}

/** Webhooks a second. */
async function measure(load: HttpLoadProcess, contestant: Contestant, { isShort }: Size) {
  const { process } = contestant;
  await process?.start();
  try {
    // The first requests find code that is not compiled yet.
    await send(load, contestant, { requests: isShort ? 100 : 5_000 });
    return await send(load, contestant, { forMs: isShort ? 300 : 4_000 });
  } finally {
    await process?.stop();
  }
}

async function send(
  load: HttpLoadProcess,
  contestant: Contestant,
  extent: Pick<HttpLoad, 'requests' | 'forMs'>,
): Promise<number> {
  const start = `{"eventType":"${eventType}","nsu":{number},"amount":149.9,"text":"`;
  const { requests, failed, perSecond, statuses } = await load.run({
    ...{ ...contestant.target, ...extent, connections: 64 },
    headers: { 'x-webhook-key': secret },
    body: `${start}${'x'.repeat(bodyBytes - start.length)}"}`,
  });
  if (failed > 0) throw new Error(`webhooks were refused: ${JSON.stringify(statuses)}`);
  contestant.accepted += requests;
  return perSecond;
}

/** Every webhook that was answered with success is stored exactly once. */
async function check({ database, table, accepted }: Contestant): Promise<void> {
  const { rows } = await database.pool.query<{ stored: string; bodies: string }>(
    `SELECT count(*) AS stored, count(DISTINCT body) AS bodies FROM ${table}`,
  );
  const { stored, bodies } = rows[0] ?? {};
  if (Number(stored) !== accepted || Number(bodies) !== accepted)
    throw new Error(`${accepted} webhooks were accepted; ${table} has ${stored}, ${bodies} bodies`);
}

export const bench: Bench = {
  id: 'G1',
  title: 'webhooks stored, 64 connections, 1 KB, authenticated, answered after the commit',
  unit: 'webhooks/s',
  goals: [{ of: 'role api', against: 'ordinary', atLeast: 6 }],
  open: openContest,
};
