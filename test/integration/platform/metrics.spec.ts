// Who may scrape /metrics and in which roles, what it shows of stored rows and of the queue, and
// what it shows without PostgreSQL.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Queue } from 'bullmq';
import { loadSettings, type Role } from '../../../src/platform/settings/config.js';
import { openDatabases } from '../../../src/app/open-databases.js';
import { createLog } from '../../../src/platform/log.js';
import { connectQueue } from '../../../src/platform/queue/queue-connection.js';
import {
  listDepthsInPostgres,
  listDepthsInRedis,
  type QueueDepth,
} from '../../../src/platform/queue/queue-depth.queries.js';
import { jobs } from '../../../src/platform/queue/queues.js';
import { startConcilia } from '../../../src/app/start.js';
import { createCaller } from '../../contract/bank-under-test.js';
import { withoutTriggers } from '../../support/parent-rows.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { hasRedis, TestRedis } from '../../support/redis.js';
import { serviceApplication, type ServiceApplication } from '../../support/service-application.js';
import { until } from '../../support/until.js';

const log = createLog('silent', 'test');
const token = 'a-token-of-the-scraper';

const scrapeOf = async (service: ServiceApplication, headers: Record<string, string> = {}) =>
  service.call('GET', '/metrics', { apiKey: null, headers });

/** The value of a sample as exposed, with its labels; null if it is absent. */
function valueOf(text: string, sample: string): number | null {
  const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
  return line === undefined ? null : Number(line.slice(sample.length + 1));
}

describe('access to /metrics', () => {
  let service: ServiceApplication;
  beforeAll(async () => {
    service = await serviceApplication({ METRICS_TOKEN: token });
  });
  afterAll(() => service.stop());

  it('needs the token where one is set', async () => {
    for (const authorization of ['', token, `Bearer ${token}x`]) {
      const refused = await scrapeOf(service, { authorization });
      expect(refused).toMatchObject({ status: 401, body: { status: 401 } });
      expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    }
    const scraped = await scrapeOf(service, { authorization: `Bearer ${token}` });
    expect(scraped.status).toBe(200);
    expect(scraped.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('has no rate limit', async () => {
    await service.database.pool.query(
      `INSERT INTO rate_limit (subject, tokens, granted, filled_at)
       VALUES ('address 127.0.0.1 requests', -10000000, 0, clock_timestamp())`,
    );
    expect((await service.call('GET', '/v1/operations')).status).toBe(429);
    const headers = { authorization: `Bearer ${token}` };
    expect((await scrapeOf(service, headers)).status).toBe(200);
    await service.database.pool.query('DELETE FROM rate_limit');
  });
});

describe('/metrics', () => {
  let service: ServiceApplication;
  beforeAll(async () => {
    service = await serviceApplication();
  });
  afterAll(() => service.stop());

  it('counts a request whose client did not wait', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(
      'POST /baas/v1/charges HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n' +
        'Content-Type: application/json\r\n\r\n{',
      () => setTimeout(() => socket.destroy(), 500),
    );
    const sample =
      'concilia_http_requests_total{method="POST",route="/baas/v1/charges",status="aborted"}';
    await until(
      'the request is counted',
      async () => valueOf((await scrapeOf(service)).text, sample) === 1,
    );
  });

  it('shows what is unfinished, late and open', async () => {
    const { id } = await service.database.prisma.bankAccount.findFirstOrThrow();
    await withoutTriggers(service.database.pool, async (client) => {
      const insert = (sql: string) => client.query(sql.replaceAll('$1', String(id)));
      await insert(
        `INSERT INTO operation (account_id, id, kind, state, request_hash, request_params, attempts,
           created_at, ended_at)
         SELECT $1, gen_random_uuid(), 'create_transfer', 'needs_operator', 'h', '{}', 1,
                now() - n * interval '1 hour', now() FROM generate_series(1, 3) n`,
      );
      await insert(
        `INSERT INTO webhook_event (account_id, event_type, body_hash, body, state, received_at)
         SELECT $1, 'A', n::text, '', state::webhook_event_state,
                now() - interval '10 minutes'
         FROM (VALUES (1, 'pending'), (2, 'quarantined'), (3, 'quarantined')) v(n, state)`,
      );
      await insert(
        `INSERT INTO delivery (account_id, id, event_id, endpoint_id, state, created_at,
           next_attempt_at)
         SELECT $1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
                state::delivery_state,
                now() - interval '20 minutes', CASE WHEN state = 'pending' THEN now() END
         FROM (VALUES ('dead'), ('pending')) v(state)`,
      );
      await insert(
        `INSERT INTO account_counter (account_id, kind, key, value)
         VALUES ($1, 'open_breaks', 'unexpected', 12), ($1, 'lines', 'in_break', 11),
                ($1, 'open_payments', '2030-01-01', 5)`,
      );
      await insert(
        `INSERT INTO reconciliation_task (account_id, kind, due_at)
         VALUES ($1, 'statement', now() - interval '5 minutes')`,
      );
      await insert(
        `INSERT INTO statement_state (account_id, synced_at) VALUES ($1, now() - interval '1 day')
         ON CONFLICT (account_id) DO UPDATE SET synced_at = EXCLUDED.synced_at`,
      );
    });
    const needsOperator = '{state="needs_operator"}';
    const shown: [string, number][] = [
      [`concilia_operations_unfinished${needsOperator}`, 3],
      ['concilia_operations_unfinished{state="unknown"}', 0],
      ['concilia_webhooks_unprocessed{state="pending"}', 1],
      ['concilia_webhooks_unprocessed{state="quarantined"}', 2],
      ['concilia_event_deliveries_undelivered{state="pending"}', 1],
      ['concilia_event_deliveries_undelivered{state="dead"}', 1],
      ['concilia_breaks_open{kind="unexpected"}', 12],
      ['concilia_breaks_open{kind="missing"}', 0],
      ['concilia_statement_lines{outcome="in_break"}', 11],
      ['concilia_accounts{mode="live"}', 1],
      ['concilia_accounts_behind', 1],
    ];
    // Each reading is renewed when its own values are too old.
    const text = await until(`the scrape has ${JSON.stringify(shown)}`, async () => {
      const scraped = (await scrapeOf(service)).text;
      return shown.every(([sample, value]) => valueOf(scraped, sample) === value) ? scraped : null;
    });
    const ages: [string, number][] = [
      [`concilia_operations_oldest_seconds${needsOperator}`, 3 * 3_600],
      ['concilia_webhooks_oldest_pending_seconds', 600],
      ['concilia_event_deliveries_oldest_pending_seconds', 1_200],
      ['concilia_reconciliation_lag_seconds', 300],
      ['concilia_statement_sync_age_seconds', 86_400],
    ];
    for (const [sample, seconds] of ages) {
      const late = (valueOf(text, sample) ?? NaN) - seconds;
      expect([sample, late >= 0 && late < 120]).toEqual([sample, true]);
    }
  });

  it('leaves the values of PostgreSQL out while it is away', async () => {
    const other = await testDatabase();
    const { rows } = await service.database.pool.query<{ name: string }>(
      'SELECT current_database() AS name',
    );
    const name = rows[0]?.name ?? '';
    const ups = ['operations', 'reconciliation'].map(
      (reading) => `concilia_metrics_reading_up{reading="${reading}"}`,
    );
    const unknown = 'concilia_operations_unfinished{state="unknown"}';
    const scraped = async (isUp: number) =>
      until('the readings are made again', async () => {
        const { status, text } = await scrapeOf(service);
        expect(status).toBe(200);
        return ups.every((up) => valueOf(text, up) === isUp) ? text : null;
      });
    expect(valueOf(await scraped(1), unknown)).toBe(0);
    await other.pool.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await other.pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
      [name],
    );
    const away = await scraped(0);
    expect(valueOf(away, unknown)).toBeNull();
    expect(valueOf(away, 'concilia_breaks_open{kind="unexpected"}')).toBeNull();
    expect(away).toContain('concilia_http_requests_total{method="GET",route="/metrics"');
    await other.pool.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    expect(valueOf(await scraped(1), unknown)).toBe(0);
    await other.drop();
  });
});

describe.each<Role>(['worker', 'scheduler'])('a process with the role %s', (role) => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await testDatabase('service');
  });
  afterAll(() => test.drop());

  it('has /metrics and no other route of the service', async () => {
    const settings = loadSettings({
      ROLES: role,
      PORT: '0',
      DATABASE_URL: test.url,
      PUBLIC_URL: 'http://127.0.0.1:1',
      // Nothing listens on port 1.
      BANK_BASE_URL: 'http://127.0.0.1:1',
      BANK_PROFILE: 'sandbox',
    });
    const silent = () => undefined;
    const databases = openDatabases(settings, silent);
    const running = await startConcilia(settings, databases, log, silent);
    const call = createCaller(running.serviceUrl ?? '', 'concilia-dev-key', null);
    const { status, text } = await call('GET', '/metrics', { apiKey: null });
    expect(status).toBe(200);
    expect(valueOf(text, 'concilia_accounts{mode="live"}')).toBe(1);
    expect(valueOf(text, 'concilia_pool_connections{pool="database",state="used"}')).not.toBeNull();
    expect((await call('GET', '/metrics/other', { apiKey: null })).status).toBe(404);
    expect((await call('GET', '/v1/summary')).status).toBe(404);
    await running.stop();
  }, 60_000);
});

const backends = hasRedis ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const);

describe.each(backends)('the depth of a queue on %s', (backend) => {
  it('counts jobs by state, and the age of the oldest that waits', async () => {
    const database = await testDatabase();
    const redis = backend === 'Redis' ? await TestRedis.start() : null;
    const options = { redisUrl: redis?.url ?? null, databaseUrl: database.url };
    const { connection, close } = await connectQueue(options, log);
    const queue = new Queue(jobs.reconcile.name, { connection: connection as never });
    const timestamp = Date.now() - 60_000;
    await queue.add('reconcile', {}, { timestamp });
    await queue.add('reconcile', {}, { timestamp: timestamp - 60_000, priority: 1 });
    await queue.add('reconcile', {}, { delay: 3_600_000 });
    const depths: QueueDepth[] = redis
      ? await listDepthsInRedis([queue])
      : await listDepthsInPostgres(connection as TestDatabase['pool']);
    const jobsOf = (state: string) => depths.find((one) => one.state === state)?.jobs ?? 0;
    expect([jobsOf('waiting'), jobsOf('delayed'), jobsOf('active')]).toEqual([2, 1, 0]);
    const oldest = depths.find(({ state }) => state === 'waiting')?.oldestSeconds;
    expect(oldest).toBeGreaterThan(119);
    expect(oldest).toBeLessThan(180);
    await queue.close();
    await close();
    await redis?.stop();
    await database.drop();
  });
});
