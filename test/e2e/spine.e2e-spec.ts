// The way of a charge through the whole service: requested, paid, matched and reported. The tests
// run once with the queue on PostgreSQL and once on Redis.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import {
  sampleChargeRequest,
  forEachConcurrently,
  registerReceiver,
  fetchChargeSettlement,
  fetchSummary,
  type Summary,
} from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';
import { hasRedis, TestRedis } from '../support/redis.js';
import { until } from '../support/until.js';

interface Registration {
  id: string;
  eventType: string;
  url: string;
  authorization: string;
}

const backends = ['PostgreSQL', 'Redis'] as const;

describe.each(backends)('the reconciliation of charges with the queue on %s', (backend) => {
  const run = backend === 'Redis' && !hasRedis ? it.skip : it;
  const isSkipped = backend === 'Redis' && !hasRedis;
  let service: TestDatabase;
  let bank: TestDatabase;
  let redis: TestRedis | null = null;
  let concilia: ConciliaProcess;
  let receiver: Receiver;

  const wipeQueue = async () => {
    if (redis) return redis.flush();
    const { rows } = await service.pool.query<{ tablename: string }>(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'bullmq'`,
    );
    const tables = rows.map(({ tablename }) => `bullmq."${tablename}"`).join(', ');
    // TRUNCATE can fail in a deadlock with the queue's own work. It is repeated until it succeeds.
    await until('the queue is wiped', async () => {
      await service.pool.query(`TRUNCATE ${tables}`);
      return true;
    });
  };

  beforeAll(async () => {
    if (isSkipped) {
      process.stderr.write('The tests with Redis are skipped: redis-server is not installed.\n');
      return;
    }
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    if (backend === 'Redis') redis = await TestRedis.start();
    receiver = await Receiver.listen();
    concilia = await ConciliaProcess.with({
      DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
      ...(redis ? { REDIS_URL: redis.url } : {}),
    });
    await concilia.start();
    await registerReceiver(concilia, receiver);
  }, 90_000);

  afterAll(async () => {
    if (isSkipped) return;
    await concilia.stop();
    await receiver.close();
    await redis?.stop();
    await service.drop();
    await bank.drop();
  });

  run('settles a charge within two seconds of its payment and sends a signed event', async () => {
    const created = await concilia.callService(
      'POST',
      '/baas/v1/charges',
      sampleChargeRequest('order-1', 149.9),
    );
    expect(created.status).toBe(200);
    expect(await fetchChargeSettlement(concilia, 'order-1')).toBe('open');

    const paidAt = Date.now();
    expect((await concilia.callBank('POST', '/baas/v1/charges/order-1/pay')).status).toBe(200);
    const event = await until('charge.paid arrives', () => receiver.events[0] ?? null);

    expect(event.receivedAt - paidAt).toBeLessThan(2_000);
    expect(event).toMatchObject({ type: 'charge.paid', isSigned: true });
    expect(event.data).toMatchObject({ correlationId: 'order-1', amount: 149.9, nsu: 1 });
    const charge = await concilia.callService('GET', '/v1/charges/order-1');
    expect(charge.body).toMatchObject({
      settlement: 'settled',
      payments: [{ nsu: 1, amount: 149.9, endToEndId: event.data.endToEndId }],
    });
    expect(await fetchSummary(concilia)).toMatchObject({
      statement: { complete: true, balance: 100_149.9 },
      transactions: { total: 1, matched: 1, pending: 0 },
    });
  });

  run('settles a discounted charge by the amount owed on the day', async () => {
    await concilia.callService('POST', '/baas/v1/charges', {
      ...sampleChargeRequest('order-discount', 100),
      discount: { type: 'Fixed', items: [{ date: '2030-12-01', amount: 10 }] },
    });
    const paid = await concilia.callBank('POST', '/baas/v1/charges/order-discount/pay');
    expect(paid.body.amount).toBe(90);
    const event = await until(
      'charge.paid arrives',
      () =>
        receiver
          .distinct('charge.paid')
          .find(({ data }) => data.correlationId === 'order-discount') ?? null,
    );
    expect(event.data).toMatchObject({ amount: 90, chargeAmount: 100, settlement: 'settled' });
    expect(await fetchChargeSettlement(concilia, 'order-discount')).toBe('settled');
    const expected = await concilia.callService<{ data: unknown[] }>(
      'GET',
      '/v1/expected-payments?reference=order-discount',
    );
    expect(expected.body.data).toMatchObject([{ state: 'settled', settledAmount: 90 }]);
  });

  run('settles a static QR code each time that it is paid', async () => {
    const qr = await concilia.callService(
      'POST',
      '/baas/api/v2/pix/qrcode/static',
      { correlationId: 'qr-1', amount: 7.25 },
      { IdempotencyKey: '6f2c9a1e-3d07-4c0e-9d43-8f1f1a8f1b11' },
    );
    expect(qr.status).toBe(200);
    for (const times of [1, 2]) {
      await concilia.callBank('POST', '/sandbox/pix/received', { payloadPix: qr.body.payloadPix });
      await until(`payment ${times} settles`, async () => {
        const { body } = await concilia.callService<{ payments: unknown[]; settlement: string }>(
          'GET',
          '/v1/charges/qr-1',
        );
        return body.payments.length === times && body.settlement === 'settled';
      });
    }
  });

  run('opens one break for an unexpected Pix and sends an event', async () => {
    const movement = await concilia.callBank('POST', '/sandbox/pix/received', { amount: 3.21 });
    const { nsu } = movement.body;
    const event = await until(
      'transaction.unexpected arrives',
      () => receiver.distinct('transaction.unexpected')[0] ?? null,
    );
    expect(event).toMatchObject({ isSigned: true, data: { nsu, amount: 3.21 } });
    const breaks = await concilia.callService<{ data: unknown[] }>(
      'GET',
      `/v1/breaks?nsu=${String(nsu)}`,
    );
    expect(breaks.body.data).toHaveLength(1);
    expect(breaks.body.data[0]).toMatchObject({
      kind: 'unexpected',
      state: 'open',
      amount: 3.21,
    });
    const lines = await concilia.callService<{ data: { explanation: object }[] }>(
      'GET',
      `/v1/transactions?nsu=${String(nsu)}`,
    );
    expect(lines.body.data[0]?.explanation).toMatchObject({ state: 'in_break' });
  });

  run('refuses a webhook without its secret and settles nothing', async () => {
    await concilia.callService('POST', '/baas/v1/charges', sampleChargeRequest('order-forged'));
    const before = await fetchSummary(concilia);
    const forged = JSON.stringify({ eventType: 'CHARGE_PAID', correlationId: 'order-forged' });
    for (const headers of [{}, { 'x-webhook-key': 'guessed' }, { authorization: 'Bearer no' }]) {
      const response = await fetch(`${concilia.serviceUrl}/webhooks/bank/main/CHARGE_PAID`, {
        method: 'POST',
        body: forged,
        headers: headers as Record<string, string>,
      });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ status: 401, traceId: expect.any(String) });
    }
    expect(await fetchChargeSettlement(concilia, 'order-forged')).toBe('open');
    expect((await fetchSummary(concilia)).webhooks.received).toBe(before.webhooks.received);
  });

  run('stores a webhook that arrives a hundred times once, and syncs rarely', async () => {
    const [registration] = (await concilia.callBank<Registration[]>('GET', '/baas/api/v1/webhooks'))
      .body;
    const [name = '', secret = ''] = registration?.authorization.split(': ') ?? [];
    const body = JSON.stringify({ eventType: 'CHARGE_PAID', correlationId: 'order-1', nsu: 1 });
    const before = await fetchSummary(concilia);
    await forEachConcurrently([...Array(100).keys()], 25, async () => {
      const response = await fetch(String(registration?.url), {
        method: 'POST',
        body,
        headers: { [name]: secret },
      });
      expect(response.status).toBe(200);
    });
    const after = await until('the webhook is processed by a sync', async () => {
      const summary = await fetchSummary(concilia);
      return summary.webhooks.pending === 0 && summary;
    });
    expect(after.webhooks.received - before.webhooks.received).toBe(100);
    expect(after.statement.syncs - before.statement.syncs).toBeLessThan(30);
    const { rows } = await service.pool.query(`SELECT copies FROM webhook_event WHERE body = $1`, [
      Buffer.from(body),
    ]);
    expect(rows).toEqual([{ copies: 100 }]);
    expect(receiver.distinct('charge.paid').filter(({ data }) => data.nsu === 1)).toHaveLength(1);
  });

  run('loses no settlement and no event when the queue is wiped during 60 payments', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `wiped-${index}`);
    let isPaying = true;
    const wiping = (async () => {
      for (; isPaying; await new Promise((resolve) => setTimeout(resolve, 300))) await wipeQueue();
    })();
    await forEachConcurrently(ids, 10, async (id) => {
      expect(
        (await concilia.callService('POST', '/baas/v1/charges', sampleChargeRequest(id))).status,
      ).toBe(200);
      expect((await concilia.callBank('POST', `/baas/v1/charges/${id}/pay`)).status).toBe(200);
    });
    isPaying = false;
    await wiping;
    await wipeQueue();
    const paid = await until(
      'each payment has an event',
      () => {
        const events = receiver
          .distinct('charge.paid')
          .filter(({ data }) => String(data.correlationId).startsWith('wiped-'));
        return events.length >= ids.length && events;
      },
      60_000,
    );
    expect(paid).toHaveLength(ids.length);
    expect(new Set(paid.map(({ data }) => data.correlationId))).toEqual(new Set(ids));
    await expectCompleteStatement(concilia);
  });

  run('finds a payment without a webhook by the scheduled sync', async () => {
    const registrations = await concilia.callBank<Registration[]>('GET', '/baas/api/v1/webhooks');
    for (const { id } of registrations.body)
      await concilia.callBank('DELETE', `/baas/api/v1/webhooks/${id}`);
    const before = await fetchSummary(concilia);
    await concilia.callService(
      'POST',
      '/baas/v1/charges',
      sampleChargeRequest('order-without-webhook'),
    );
    await concilia.callBank('POST', '/baas/v1/charges/order-without-webhook/pay');
    await until(
      'the charge is settled',
      async () => (await fetchChargeSettlement(concilia, 'order-without-webhook')) === 'settled',
    );
    expect((await fetchSummary(concilia)).webhooks.received).toBe(before.webhooks.received);
  });

  // Registration does not depend on the queue, so one backend is enough.
  if (backend === 'PostgreSQL')
    run(
      'registers each webhook once at the bank and leaves it unchanged at a restart',
      async () => {
        await concilia.stop();
        await concilia.start();
        const first = await concilia.callBank<Registration[]>('GET', '/baas/api/v1/webhooks');
        await concilia.stop();
        await concilia.start();
        const second = await concilia.callBank<Registration[]>('GET', '/baas/api/v1/webhooks');
        expect(first.body.length).toBeGreaterThan(0);
        expect(new Set(first.body.map(({ eventType }) => eventType)).size).toBe(first.body.length);
        expect(second.body).toEqual(first.body);
      },
      60_000,
    );
});

/** The synced statement is complete and agrees with the bank's ledger to the cent. */
async function expectCompleteStatement(concilia: ConciliaProcess): Promise<void> {
  const ledger = await concilia.callBank<{
    accounts: { number: string; balance: number }[];
    audit: { clean: boolean };
  }>('GET', '/sandbox/ledger?account=1000001');
  const balance = ledger.body.accounts.find(({ number }) => number === '1000001')?.balance;
  expect(ledger.body.audit.clean).toBe(true);
  const summary = await until<Summary>('nothing is pending', async () => {
    const current = await fetchSummary(concilia);
    const { deliveries, transactions } = current;
    return deliveries.pending === 0 && transactions.pending === 0 && current;
  });
  expect(summary.statement).toMatchObject({ complete: true, balance });
  expect(summary.deliveries.dead).toBe(0);
}
