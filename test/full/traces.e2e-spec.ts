// The traces of a whole process, as a collector gets them: what belongs together is one trace, no
// data of persons and no secret is in it, and neither a silent collector nor none costs anything.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { keyTransfer, knownBeneficiaries } from '../contract/transfer-samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { registerReceiver, sampleChargeRequest } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';
import { TraceCollector, type CollectedSpan } from '../support/trace-collector.js';
import { until } from '../support/until.js';

const preloaded = fileURLToPath(new URL('../support/loaded-packages.cjs', import.meta.url));
const callerSpan = '00f067aa0ba902b7';
const token = 'collector-token-4711';
const payer = {
  name: 'Canária Secreta',
  document: '52998224725',
  email: 'canaria@secreta.example',
};
const webhookRoute = 'POST /webhooks/bank/:account';

let service: TestDatabase;
let bank: TestDatabase;
let receiver: Receiver;
let collector: TraceCollector;
let concilia: ConciliaProcess;
let settings: Record<string, string>;

beforeAll(async () => {
  [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
  [receiver, collector] = [await Receiver.listen(), await TraceCollector.listen()];
  settings = {
    DATABASE_URL: service.url,
    SANDBOX_DATABASE_URL: bank.url,
    NODE_OPTIONS: `--require=${preloaded}`,
  };
  concilia = await ConciliaProcess.with({
    ...settings,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${token}`,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  await concilia.start();
  await registerReceiver(concilia, receiver);
}, 120_000);

afterAll(async () => {
  await concilia.stop();
  await receiver.close();
  await collector.close();
  await service.drop();
  await bank.drop();
});

const newTraceparent = () => {
  const traceId = randomUUID().replaceAll('-', '');
  return { traceId, headers: { traceparent: `00-${traceId}-${callerSpan}-01` } };
};

/** The span of this name in the trace, once the collector has it. */
const collected = (name: string, traceId?: string): Promise<CollectedSpan> =>
  until(`the collector has ${name}`, () => collector.find(name, traceId)[0] ?? null);

/** Which the collector has, from the span up to the first of its trace. */
function pathTo(span: CollectedSpan): string[] {
  const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return parent ? [...pathTo(parent), span.name] : [span.name];
}

it('records a charge from its request to its settlement, and its webhook to its event', async () => {
  const { traceId, headers } = newTraceparent();
  const request = { ...sampleChargeRequest('canary-order', 149.9), payer };
  const created = await concilia.callService('POST', '/baas/v1/charges', request, headers);
  expect(created.status).toBe(200);
  expect(created.headers.get('x-trace-id')).toBe(traceId);
  await concilia.callBank('POST', '/baas/v1/charges/canary-order/pay');
  const summary = await concilia.callService('GET', '/v1/summary');
  await collected('GET /v1/summary', String(summary.headers.get('x-trace-id')));
  await until('charge.paid arrives', () => receiver.distinct('charge.paid')[0] ?? null);

  const asked = await collected('POST /baas/v1/charges', traceId);
  expect(asked).toMatchObject({ parentSpanId: callerSpan, kind: 2 });
  const sent = await collected('bank ', traceId);
  expect(sent).toMatchObject({ parentSpanId: asked.spanId, kind: 3 });
  const stored = collector.find('INSERT', traceId).find(({ name }) => name.includes('operation'));
  expect(stored?.parentSpanId).toBe(asked.spanId);
  const settlement = await collected('settlement', traceId);
  expect(settlement.parentSpanId).toBe(asked.spanId);

  const delivery = await collected('delivery');
  const ofWebhook = delivery.traceId;
  expect(ofWebhook).not.toBe(traceId);
  const received = await collected(webhookRoute, ofWebhook);
  expect(received).not.toHaveProperty('parentSpanId');
  expect(pathTo(delivery)).toEqual([received.name, 'event charge.paid', 'delivery']);
  // One job decides what many webhooks report; which of them it belongs to is left to chance.
  const [cause] = settlement.links ?? [];
  expect(cause?.traceId).not.toBe(traceId);
  await until('the collector has the cause', () =>
    collector.find('job reconcile', cause?.traceId).some(({ spanId }) => spanId === cause?.spanId),
  );
  const ofAnyWebhook = (job: CollectedSpan) => pathTo(job)[0]?.startsWith(webhookRoute);
  const sync = await until(
    'the collector has the sync of a webhook',
    () => collector.find('job sync-statement').find(ofAnyWebhook) ?? null,
  );
  const [firstWebhook] = collector.find(webhookRoute, sync.traceId);
  expect(sync.parentSpanId).toBe(firstWebhook?.spanId);
  const storing = await collected('INSERT webhook_event', sync.traceId);
  expect(storing).toMatchObject({ parentSpanId: firstWebhook?.spanId, kind: 3 });
  const read = await collected('bank listTransactions', sync.traceId);
  expect(pathTo(read).slice(0, 2)).toEqual([firstWebhook?.name, 'job sync-statement']);
});

it('records a transfer from its request to its settlement', async () => {
  const { traceId, headers } = newTraceparent();
  const lookedUp = await concilia.callService(
    'POST',
    '/baas/api/v2/pix/dict/payment-initialization',
    { key: knownBeneficiaries.dictKey },
    headers,
  );
  const sent = await concilia.callService(
    'POST',
    '/baas/api/v2/transfers',
    keyTransfer(String(lookedUp.body.endToEndId), { description: 'Canária do Pix' }),
    { ...headers, IdempotencyKey: randomUUID() },
  );
  expect(sent.status).toBeLessThan(300);
  const settlement = await collected('settlement', traceId);
  expect(pathTo(settlement)).toEqual(['POST /baas/api/v2/transfers', 'settlement']);
  expect(collector.find('bank ', traceId).map(pathTo)).toHaveLength(2);
});

it('sends no data of persons and no secret', async () => {
  const secret = receiver.secret;
  expect(secret).not.toBe('');
  expect(collector.received).toContain(`"authorization":"Bearer ${token}"`);
  const canaries = [
    ...[...Object.values(payer), 'Canária', 'canary-order', knownBeneficiaries.dictKey],
    ...[knownBeneficiaries.dictKeyDocument, secret, 'concilia-dev-', 'sandbox-dev-', 'postgresql:'],
  ];
  expect(canaries.filter((canary) => collector.received.includes(canary))).toEqual([]);
});

it('stops within seconds although the collector does not answer', async () => {
  const { traceId, headers } = newTraceparent();
  collector.isSilent = true;
  await concilia.callService('GET', '/v1/summary', undefined, headers);
  const startedAtMs = Date.now();
  expect(await concilia.stop()).toBe(0);
  expect(Date.now() - startedAtMs).toBeLessThan(8_000);
  expect(collector.received).toContain(traceId);
  expect(concilia.printed).toContain('has not answered within 2000 ms');
  expect(concilia.printed).toContain('@opentelemetry/sdk-trace');
  collector.isSilent = false;
}, 60_000);

it('loads nothing of OpenTelemetry without a collector', async () => {
  const requests = collector.requests;
  const untraced = await ConciliaProcess.with(settings);
  await untraced.start();
  const { headers } = newTraceparent();
  const order = sampleChargeRequest('untraced', 1);
  await untraced.callService('POST', '/baas/v1/charges', order, headers);
  await untraced.stop();
  // The client of Prometheus loads its interface, and no part that does anything.
  expect(untraced.printed).toContain('loaded: ["@opentelemetry/api"]');
  expect(collector.requests).toBe(requests);
  const { rows } = await service.pool.query<{ traces: number; operations: number }>(
    'SELECT count(traceparent)::int AS traces, count(*)::int AS operations FROM operation',
  );
  expect(rows).toEqual([{ traces: 2, operations: 3 }]);
}, 60_000);
