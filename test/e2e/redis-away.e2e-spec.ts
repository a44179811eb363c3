// The service while Redis, which carries its queue, is down.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { sampleChargeRequest, fetchChargeSettlement } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { hasRedis, TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

const run = hasRedis ? describe : describe.skip;

run('the service while Redis is down', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let redis: TestRedis;
  let concilia: ConciliaProcess;

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    redis = await TestRedis.start();
    concilia = await ConciliaProcess.with({
      DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
      REDIS_URL: redis.url,
    });
    await concilia.start();
  }, 60_000);

  afterAll(async () => {
    await concilia.stop();
    await redis.stop();
    await service.drop();
    await bank.drop();
  });

  it('creates charges, and settles their payments when Redis is up again', async () => {
    await redis.shutDown();
    // The API needs no queue: the process stays ready, and says what is wrong.
    await until('readiness warns of the queue', async () => {
      const { status, body } = await concilia.callService('GET', '/health/ready');
      return status === 200 && String(body.warnings).includes('queue');
    });
    const startedAt = performance.now();
    const created = await concilia.callService(
      'POST',
      '/baas/v1/charges',
      sampleChargeRequest('redis-down-1'),
    );
    expect(created.status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect((await concilia.callBank('POST', '/baas/v1/charges/redis-down-1/pay')).status).toBe(200);

    await redis.startServer();
    await until(
      'the charge is settled',
      async () => (await fetchChargeSettlement(concilia, 'redis-down-1')) === 'settled',
      45_000,
    );
  }, 90_000);
});
