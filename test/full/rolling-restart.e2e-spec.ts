// Instances are stopped by SIGTERM and started again, one after the other, behind a proxy that only
// reads readiness, while clients send requests: none fails, and nothing is done twice.
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readBankLedger } from '../chaos/final-state.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import type { Summary } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { ReadinessProxy } from '../support/readiness-proxy.js';
import { buildReleasedVersion } from '../support/released-version.js';
import { ask, RolloutClients } from '../support/rollout-client.js';
import { until } from '../support/until.js';

const delayMs = 4_000;
const startMs = 120_000;
const lanes = 12;

describe('a restart of one instance after the other', () => {
  const opened: { close: () => unknown }[] = [];
  let service: TestDatabase;
  let bank: ConciliaProcess;
  let proxy: ReadinessProxy;

  afterEach(async () => {
    for (const { close } of opened.splice(0).reverse()) await close();
  });

  async function open(): Promise<void> {
    service = await testDatabase();
    const sandbox = await testDatabase('sandbox');
    opened.push({ close: () => service.drop() }, { close: () => sandbox.drop() });
    bank = await ConciliaProcess.with({
      ...{ ROLES: 'sandbox', SANDBOX_DATABASE_URL: sandbox.url },
    });
    await bank.start(startMs);
    proxy = await ReadinessProxy.listen();
    opened.push({ close: () => bank.stop() }, { close: () => proxy.close() });
  }

  async function start(script?: string): Promise<ConciliaProcess> {
    const instance = await ConciliaProcess.with(
      {
        ...{ ROLES: 'api,worker,scheduler', DATABASE_URL: service.url, PUBLIC_URL: proxy.url },
        ...{ BANK_PROFILE: 'sandbox', BANK_BASE_URL: bank.bankUrl, SYNC_INTERVAL_MS: '1000' },
        SHUTDOWN_DELAY_MS: String(delayMs),
      },
      script,
    );
    opened.push({ close: () => instance.stop() });
    await instance.start(startMs);
    await join(instance);
    return instance;
  }

  async function join({ serviceUrl }: ConciliaProcess): Promise<void> {
    proxy.add(serviceUrl);
    await until('the proxy sends to the instance', () => proxy.isReady(serviceUrl));
  }

  /** Every request of the clients had its effect once, at the bank and in the service. */
  async function expectOnce({ keys, correlationIds, ...clients }: RolloutClients): Promise<void> {
    expect({ clients: clients.failures, proxy: proxy.failures }).toEqual({
      ...{ clients: [], proxy: [] },
    });
    expect(keys.length).toBeGreaterThan(20);
    const areDone = async () => {
      const { rows } = await service.pool.query<{ state: string; operations: number }>(
        `SELECT state, count(*)::int AS operations FROM operation GROUP BY state`,
      );
      const [only, ...others] = rows;
      return others.length === 0 && only?.operations === keys.length + correlationIds.length;
    };
    await until('each operation has succeeded', areDone, startMs);
    const { movements, audit } = await readBankLedger(bank);
    const sent = movements.filter(({ isCredit }) => !isCredit);
    expect(sent.map(({ externalId }) => externalId).sort()).toEqual([...keys].sort());
    expect(audit).toEqual({ clean: true, problems: [] });
    const areMatched = async () => {
      const { text } = await ask(`${proxy.url}/v1/summary`, false);
      const { transactions } = JSON.parse(text) as Summary;
      return transactions.matched === sent.length && transactions.total === sent.length;
    };
    await until('each line is matched', areMatched, startMs);
  }

  it('of one version fails no request', async () => {
    await open();
    const instances = [await start(), await start()];
    const clients = new RolloutClients(proxy.url, lanes);
    for (const instance of instances) {
      await until('all clients send', () => clients.keys.length > 2 * lanes, startMs);
      const before = proxy.sentTo(instance.serviceUrl);
      proxy.knowLate(instance.serviceUrl);
      expect(await instance.stop()).toBe(0);
      // It got requests while it stopped, until the proxy knew: otherwise this proves nothing.
      expect(proxy.sentTo(instance.serviceUrl)).toBeGreaterThan(before);
      await instance.start(startMs);
      await until('the proxy sends to it', () => proxy.isReady(instance.serviceUrl));
    }
    await clients.end();
    await expectOnce(clients);
  }, 400_000);

  it('from 0.2.0 to this version fails no request', async () => {
    const script = `${buildReleasedVersion('0.2.0')}/dist/main.js`;
    await open();
    const released = [await start(script), await start(script)];
    const clients = new RolloutClients(proxy.url, lanes);
    for (const instance of released) {
      // The first one migrates the database beside the one that is left.
      await start();
      // 0.2.0 closes at once: the proxy must have taken it out.
      await proxy.remove(instance.serviceUrl);
      expect(await instance.stop()).toBe(0);
    }
    await sleep(1_000);
    await clients.end();
    await expectOnce(clients);
  }, 600_000);

  it('lets who keeps a connection to an instance leave in time', async () => {
    await open();
    const instance = await start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    opened.push({ close: () => agent.destroy() });
    const get = (path: string, by: Agent | false = agent) => ask(instance.serviceUrl + path, by);
    expect((await get('/v1/summary')).headers.connection).toBe('keep-alive');
    const stopping = instance.stop();
    const stoppedAt = performance.now();
    const before = await until('readiness says that it stops', async () => {
      const ready = await get('/health/ready', false);
      return ready.status === 503 && ready;
    });
    expect(JSON.parse(before.text)).toMatchObject({ status: 503, title: 'Not ready: stop.' });
    let served = 0;
    let refused = '';
    while (refused === '') {
      try {
        const answer = await get(served % 2 ? '/v1/summary' : '/v1/nothing');
        // Each answer is the last one of its connection, and has the contract's form.
        expect(answer.headers.connection).toBe('close');
        expect([200, 404]).toContain(answer.status);
        if (answer.status === 404) expect(JSON.parse(answer.text)).toMatchObject({ status: 404 });
        served += 1;
      } catch (error) {
        refused = (error as NodeJS.ErrnoException).code ?? String(error);
      }
    }
    // The system resets what it has not handed over yet at the moment in which a listener closes.
    expect(['ECONNREFUSED', 'ECONNRESET']).toContain(refused);
    expect(performance.now() - stoppedAt).toBeGreaterThanOrEqual(delayMs - 100);
    expect(served).toBeGreaterThan(1);
    expect(await stopping).toBe(0);
  }, 200_000);
});
