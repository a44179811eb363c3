// The whole service behind PgBouncer in transaction mode. Each transaction gets another session,
// without what an earlier one set or locked, and in a time zone that is not UTC.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import {
  fetchChargeSettlement,
  fetchSummary,
  forEachConcurrently,
  registerReceiver,
  sampleChargeRequest,
} from '../support/payments.js';
import { hasPgBouncer, TestPgBouncer } from '../support/pgbouncer.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

if (!hasPgBouncer)
  process.stderr.write('The tests behind a pooler are skipped: pgbouncer is not installed.\n');
const run = hasPgBouncer ? describe : describe.skip;

run('the service behind a transaction-mode pooler', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let pooler: TestPgBouncer;
  let concilia: ConciliaProcess;
  let receiver: Receiver;

  beforeAll(async () => {
    [service, bank] = [await testDatabase(), await testDatabase('sandbox')];
    const { pathname } = new URL(service.url);
    // Changes between summer and winter, by half an hour.
    await service.pool.query(
      `ALTER DATABASE ${pathname.slice(1)} SET timezone = 'Australia/Lord_Howe'`,
    );
    pooler = await TestPgBouncer.start(service.url);
    receiver = await Receiver.listen();
    concilia = await ConciliaProcess.with({
      DATABASE_URL: pooler.inFrontOf(service.url),
      DIRECT_DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
    });
    await concilia.start();
    await registerReceiver(concilia, receiver);
  }, 90_000);
  afterAll(async () => {
    await concilia.stop();
    await receiver.close();
    await pooler.stop();
    await service.drop();
    await bank.drop();
  });

  const post = async <Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await concilia.callService<Body>('POST', path, body, headers);
    expect([path, response.status < 300, response.body]).toEqual([path, true, response.body]);
    return response.body;
  };

  it('settles paid charges, and reports each by a signed event', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `pooled-${index}`);
    await forEachConcurrently(ids, 10, async (id) => {
      await post('/baas/v1/charges', sampleChargeRequest(id));
      expect((await concilia.callBank('POST', `/baas/v1/charges/${id}/pay`)).status).toBe(200);
    });
    const paid = await until(
      'each payment has an event',
      () => {
        const events = receiver.distinct('charge.paid');
        return events.length === ids.length && events;
      },
      60_000,
    );
    expect(paid.every(({ isSigned }) => isSigned)).toBe(true);
    for (const id of ids) expect(await fetchChargeSettlement(concilia, id)).toBe('settled');
    const { webhooks } = await fetchSummary(concilia);
    expect(webhooks.received).toBeGreaterThan(0);
  }, 120_000);

  it('sends a transfer once, however often it is requested at once', async () => {
    const { endToEndId } = await post('/baas/api/v2/pix/dict/payment-initialization', {
      key: 'maria@pessoa-dois.example',
    });
    const transfer = { amount: 10.5, initiationType: 'KEY', endToEndId };
    const headers = { IdempotencyKey: randomUUID() };
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => post('/baas/api/v2/transfers', transfer, headers)),
    );
    expect(new Set(responses.map((body) => JSON.stringify(body))).size).toBe(1);
    await until('the transfer is settled', async () => {
      const { body } = await concilia.callService('GET', `/v1/transfers/${String(endToEndId)}`);
      return body.settlement === 'settled';
    });
  }, 60_000);

  it('issues each row of an upload once', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => sampleChargeRequest(`row-${index}`));
    const { id } = await post(
      '/v1/charges/bulk',
      rows.map((row) => JSON.stringify(row)).join('\n'),
      { 'content-type': 'application/x-ndjson' },
    );
    const upload = await until(
      'the upload is finished',
      async () => {
        const { body } = await concilia.callService('GET', `/v1/bulk/${String(id)}`);
        return body.state === 'finished' && body;
      },
      60_000,
    );
    expect(upload.counts).toMatchObject({ accepted: rows.length });
    const { rows: charges } = await bank.pool.query(
      `SELECT 1 FROM charge WHERE correlation_id LIKE 'row-%'`,
    );
    expect(charges).toHaveLength(rows.length);
  }, 90_000);

  it('closes the day, and exports its lines at their times', async () => {
    const [first] = receiver.distinct('charge.paid');
    const { body } = await concilia.callService<{ data: { nsu: number; occurredAt: string }[] }>(
      'GET',
      '/v1/transactions?limit=100',
    );
    const { movements } = (
      await concilia.callBank<{ movements: { nsu: number; createdAt: string }[] }>(
        'GET',
        '/sandbox/ledger?account=1000001',
      )
    ).body;
    const timeAtBank = movements.find(({ nsu }) => nsu === first?.data.nsu)?.createdAt;
    expect(Date.parse(String(timeAtBank))).toBeGreaterThan(0);
    const line = body.data.find(({ nsu }) => nsu === first?.data.nsu);
    expect(line?.occurredAt).toBe(timeAtBank);

    await concilia.callBank('POST', '/sandbox/clock', { advance: 'P1DT1M' });
    const day = await until(
      'the day has a certificate',
      async () => {
        const closes = await concilia.callService<{ data: Record<string, unknown>[] }>(
          'GET',
          '/v1/day-closes',
        );
        return (
          closes.body.data.find(({ counts }) => (counts as { lines: number }).lines > 0) ?? null
        );
      },
      90_000,
    );
    expect(day).toMatchObject({ counts: { lines: movements.length } });
    const date = String(day?.date);
    const exported = await fetch(
      `${concilia.serviceUrl}/v1/exports/transactions?format=csv&from=${date}&to=${date}`,
      { headers: { 'x-service-api-key': 'concilia-dev-key' } },
    );
    expect(exported.status).toBe(200);
    const csv = await exported.text();
    expect(csv.trimEnd().split('\n').length).toBeGreaterThan(movements.length);
  }, 120_000);

  it('leaves nothing open, and no error about sessions in the logs', async () => {
    const { body: ledger } = await concilia.callBank<{
      accounts: { number: string; balance: number }[];
    }>('GET', '/sandbox/ledger?account=1000001');
    const balance = ledger.accounts.find(({ number }) => number === '1000001')?.balance;
    const summary = await until('nothing is pending', async () => {
      const current = await fetchSummary(concilia);
      const { transactions, deliveries, webhooks } = current;
      return transactions.pending + deliveries.pending + webhooks.pending === 0 && current;
    });
    expect(summary.statement).toMatchObject({ complete: true, balance });
    const problems = /prepared statement|startup parameter|unrecognized|cannot be SET|SET LOCAL/i;
    expect(
      `${pooler.log}\n${concilia.printed}`.split('\n').filter((entry) => problems.test(entry)),
    ).toEqual([]);
    expect(
      concilia.printed.split('\n').filter((entry) => /"level":(50|60|"error")/.test(entry)),
    ).toEqual([]);
  }, 60_000);
});
