// G9: charges with a persisted key, 64 at once, at a bank that answers in 20 ms. The service beside
// an ordinary service of Nest and Prisma with the same guarantees, and beside the limit: direct
// calls of the bank.
import { ConciliaProcess } from '../../test/support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../../test/support/postgres.js';
import type { Bench, Contest } from '../harness/bench.js';
import { startHttpLoad } from '../harness/http-load.js';
import { startYardstick } from '../harness/yardstick-server.js';

const connections = 64;
const delayMs = 20;
const poolSize = '20';
const warmUpParts = 4;
const contenders = ['service', 'Nest and Prisma', 'direct calls'] as const;
type Contender = (typeof contenders)[number];

const request = {
  path: '/baas/v1/charges',
  body: JSON.stringify({
    ...{ type: 'BANKSLIP', correlationId: 'order-{number}', yourNumber: '1' },
    ...{ dueDate: '2030-12-31', Amount: 149.9 },
    payer: { name: 'Maria da Silva', document: '12345678909' },
  }),
};

/** Only what serves requests: no worker, no timer. */
const serviceSettings = (databaseUrl: string, bankUrl: string) => ({
  ...{ DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize, ROLES: 'api' },
  ...{ BANK_PROFILE: 'sandbox', BANK_BASE_URL: bankUrl, PUBLIC_URL: 'http://127.0.0.1:9' },
  ...{ BANK_RATE_LIMIT_PER_SECOND: '1000000', RATE_LIMITS_PER_KEY: 'writes=0' },
  ...{ RATE_LIMITS_PER_ACCOUNT: 'writes=0', RATE_LIMITS_PER_ADDRESS: 'requests=0' },
});

async function openContest(roundMs: number, warmUpMs: number): Promise<Contest> {
  const databases = {
    ...{ service: await testDatabase(), 'Nest and Prisma': await testDatabase('service') },
  };
  const bank = await startYardstick('stub-bank.ts', { delayMs: String(delayMs) });
  const bankUrl = `http://127.0.0.1:${bank.port}`;
  const ordinary = await startYardstick('charges-ordinary.ts', {
    ...{ databaseUrl: databases['Nest and Prisma'].url, bankUrl, poolSize },
  });
  const service = await ConciliaProcess.with(serviceSettings(databases.service.url, bankUrl));
  await service.start();
  const load = await startHttpLoad();
  const ports: Record<Contender, number> = {
    service: Number(new URL(service.serviceUrl).port),
    ...{ 'Nest and Prisma': ordinary.port, 'direct calls': bank.port },
  };
  /** How many requests each of them has answered. */
  const answered: Record<string, number> = {};
  const run = async (contender: Contender, forMs: number) => {
    const { failed, statuses, requests, perSecond } = await load.run({
      ...{ port: ports[contender], connections, forMs, ...request },
      headers: {
        'x-service-api-key': 'concilia-dev-key',
        idempotencykey: `${contender.replaceAll(' ', '-')}-{number}`,
      },
    });
    if (failed > 0) throw new Error(`${contender} answered ${JSON.stringify(statuses)}`);
    answered[contender] = (answered[contender] ?? 0) + requests;
    return perSecond;
  };
  // V8 compiles the code of a request while thousands of them are served. PostgreSQL plans for
  // empty tables until their rows are counted, which the scheduler does each five seconds.
  for (let part = 0; part < warmUpParts; part += 1) {
    for (const contender of contenders) await run(contender, warmUpMs / warmUpParts);
    for (const { pool } of Object.values(databases)) await pool.query('ANALYZE');
  }
  return {
    contestants: Object.fromEntries(
      contenders.map((contender) => [contender, () => run(contender, roundMs)]),
    ),
    check: async () => {
      const response = await fetch(`${bankUrl}/calls`);
      const calls = (await response.json()) as Record<string, number>;
      for (const [contender, database] of Object.entries(databases))
        await checkOperations(database, answered[contender], calls);
    },
    close: async () => {
      await load.stop();
      await service.stop();
      await ordinary.stop();
      await bank.stop();
      for (const database of Object.values(databases)) await database.drop();
    },
  };
}

/** Each answered request is one operation with one key, and was one call at the bank. */
async function checkOperations(
  { pool }: TestDatabase,
  answered: number | undefined,
  calls: Readonly<Record<string, number>>,
): Promise<void> {
  const { rows } = await pool.query<{ id: string; state: string; hasKey: boolean; key: string }>(
    `SELECT o.id, o.state, o.idempotency_key AS key,
            EXISTS (SELECT FROM operation_identity i
             WHERE i.account_id = o.account_id AND i.operation_id = o.id) AS "hasKey"
     FROM operation o`,
  );
  const keys = new Set(rows.map(({ key }) => key)).size;
  if (rows.length !== answered || keys !== answered)
    throw new Error(`${answered} answers of ${rows.length} operations with ${keys} keys`);
  const wrong = rows.find(
    ({ id, state, hasKey }) => state !== 'succeeded' || !hasKey || calls[id] !== 1,
  );
  if (wrong) throw new Error(`${calls[wrong.id]} calls of ${JSON.stringify(wrong)}`);
}

export const bench: Bench = {
  id: 'G9',
  title: 'Charges with a persisted key, 64 at once, at a bank that answers in 20 ms',
  unit: 'charges/s',
  goals: [{ of: 'service', against: 'Nest and Prisma', atLeast: 3 }],
  open: ({ isShort }) => (isShort ? openContest(300, 150) : openContest(2_000, 8_000)),
};
