// /metrics of a whole process: what a flow leaves there, that no label carries an id, and that the
// documentation lists each metric.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadSettings } from '../../src/platform/settings/config.js';
import { declaredMetrics } from '../../src/platform/metrics/instruments.js';
import { openDatabases } from '../../src/app/open-databases.js';
import { createLog } from '../../src/platform/log.js';
import { startConcilia, type RunningConcilia } from '../../src/app/start.js';
import { createCaller } from '../contract/bank-under-test.js';
import {
  deployedExpressions,
  documentedMetrics,
  selectorsOf,
  type Selector,
} from '../support/deployed-metrics.js';
import { sampleChargeRequest } from '../support/payments.js';
import { keyTransfer, transferCalls } from '../contract/transfer-samples.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';
import { adminKey, apiKey } from '../support/service-application.js';
import { until } from '../support/until.js';

interface Sample {
  /** As exposed: a histogram's has `_bucket`, `_sum` or `_count`. */
  name: string;
  labels: Record<string, string>;
  value: number;
}

const samplePattern = /^(\w+)(?:\{(.*)\})? (\S+)$/;

function parseSamples(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value] = samplePattern.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]);
    return { name, labels: Object.fromEntries(pairs) as Sample['labels'], value: Number(value) };
  });
}

/** The templates of paths as Fastify has them, from the paths of the API reference. */
function servedPaths(documented: readonly string[]): Set<string> {
  return new Set([
    ...documented.map((path) => path.replace(/\{(\w+)\}/g, ':$1')),
    ...['unknown', '/health/live', '/health/ready', '/health/database'],
    ...['/metrics', '/openapi.json'],
    ...['/webhooks/bank/:account', '/webhooks/bank/:account/:eventType'],
  ]);
}

/** Labels that their metric has not declared, or whose value is not one of those declared. */
function undeclaredLabels({ name, labels }: Sample, served: ReadonlySet<string>): string[] {
  const sets =
    declaredMetrics().get(name) ?? declaredMetrics().get(name.replace(/_(bucket|sum|count)$/, ''));
  if (!sets) return [`${name} is not declared`];
  const isDeclared = (label: string, value: string) => {
    if (label === 'le') return name.endsWith('_bucket');
    if (name.startsWith('concilia_http_') && label === 'route') return served.has(value);
    const set = sets[label];
    return set instanceof RegExp ? set.test(value) : set?.includes(value) === true;
  };
  return Object.entries(labels)
    .filter(([label, value]) => !isDeclared(label, value))
    .map(([label, value]) => `${name} ${label}=${value}`);
}

/** The values that a selector of deploy/ requires and that no series can have. */
function impossibleValues({ metric, matchers }: Selector): string[] {
  const sets = declaredMetrics().get(metric) ?? {};
  return matchers.flatMap(({ label, operator, value }) => {
    const set = sets[label === 'exported_job' ? 'job' : label];
    if (!set || set instanceof RegExp) return [];
    const required = operator.includes('~') ? value.split('|') : [value];
    return required.filter((one) => !set.includes(one)).map((one) => `${metric} ${label}=${one}`);
  });
}

describe('/metrics', () => {
  const otherSlug = 'second-account';
  const unknownId = randomUUID();
  let service: TestDatabase;
  let bank: TestDatabase;
  let receiver: Receiver;
  let concilia: RunningConcilia;
  let call: ReturnType<typeof createCaller>;
  let callBank: ReturnType<typeof createCaller>;

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    receiver = await Receiver.listen();
    const settings = loadSettings({
      DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
      PORT: '0',
      SANDBOX_PORT: '0',
      SYNC_INTERVAL_MS: '1000',
    });
    const silent = () => undefined;
    const databases = openDatabases(settings, silent);
    concilia = await startConcilia(settings, databases, createLog('silent', 'test'), silent);
    call = createCaller(concilia.serviceUrl ?? '', apiKey, 'service');
    callBank = createCaller(concilia.sandboxUrl ?? '', 'sandbox-dev-key', 'sandbox');
  }, 60_000);

  afterAll(async () => {
    await concilia.stop();
    await receiver.close();
    await service.drop();
    await bank.drop();
  });

  const scrape = async () => (await call('GET', '/metrics', { apiKey: null })).text;
  const find = (samples: Sample[], name: string, labels: Sample['labels'] = {}) =>
    samples.find(
      (one) =>
        one.name === name &&
        Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )?.value ?? null;
  /** Waits until the sample has at least this value. */
  const untilSample = (name: string, labels: Sample['labels'], least: number) =>
    until(
      `${name} ${JSON.stringify(labels)} is at least ${least}`,
      async () => (find(parseSamples(await scrape()), name, labels) ?? -1) >= least,
    );

  const route = (path: string) => ({ method: 'GET', route: path });

  it('shows each part of a flow, and no id in a label', async () => {
    const { body: endpoint } = await call('POST', '/v1/webhook-endpoints', {
      body: { url: receiver.url },
    });
    receiver.secret = String(endpoint.secret);
    await call('POST', '/v1/accounts', {
      apiKey: adminKey,
      body: { slug: otherSlug, credentials: { apiKey: 'no-key-of-the-bank' } },
    });
    const charge = sampleChargeRequest('order-4711', 149.9);
    expect((await call('POST', '/baas/v1/charges', { body: charge })).status).toBe(200);
    await callBank('POST', '/baas/v1/charges/order-4711/pay');
    await callBank('POST', '/sandbox/pix/received', { body: { amount: 77.7 } });
    const bankUser = { call, otherApiKey: null, stop: () => Promise.resolve() };
    const transfers = transferCalls(() => bankUser);
    const endToEndId = await transfers.newEndToEndId();
    expect((await transfers.send(keyTransfer(endToEndId))).status).toBeLessThan(300);
    await call('GET', `/v1/charges/${unknownId}`);
    await call('GET', `/nothing/${unknownId}?account=${otherSlug}`);
    await until('the event arrives', () => receiver.distinct('charge.paid')[0] ?? null);

    await untilSample('concilia_webhook_delay_seconds_count', {}, 1);
    await untilSample('concilia_event_delay_seconds_count', {}, 1);
    await untilSample('concilia_statement_lines', { outcome: 'matched' }, 1);
    // The other account has no key of the bank: its sync fails each time.
    await untilSample('concilia_jobs_total', { job: 'sync-statement', result: 'failed' }, 1);
    await untilSample('concilia_accounts_behind', {}, 1);
    const samples = parseSamples(await scrape());
    const expected: [string, Sample['labels'], number][] = [
      ['concilia_http_requests_total', { ...route('unknown'), status: '404' }, 1],
      [
        'concilia_http_requests_total',
        { ...route('/v1/charges/:correlationId'), status: '404' },
        1,
      ],
      ['concilia_http_requests_total', { method: 'POST', route: '/baas/v1/charges' }, 1],
      [
        'concilia_http_request_duration_seconds_count',
        { method: 'POST', route: '/webhooks/bank/:account/:eventType' },
        1,
      ],
      [
        'concilia_bank_requests_total',
        { class: 'charges', route: 'createCharge', outcome: 'success' },
        1,
      ],
      ['concilia_bank_request_duration_seconds_count', { route: 'listTransactions' }, 1],
      ['concilia_bank_circuit_breakers', { class: 'charges', state: 'closed' }, 1],
      ['concilia_accounts', { mode: 'live' }, 2],
      ['concilia_statement_lines_synced_total', {}, 1],
      ['concilia_statement_lines_decided_total', { outcome: 'matched' }, 1],
      ['concilia_webhooks_received_total', { result: 'accepted' }, 1],
      ['concilia_webhook_processing_seconds_count', {}, 1],
      ['concilia_webhooks_unprocessed', { state: 'quarantined' }, 0],
      ['concilia_event_delivery_attempts_total', { result: 'delivered' }, 1],
      ['concilia_operations_unfinished', { state: 'unknown' }, 0],
      ['concilia_jobs_total', { job: 'reconcile', result: 'succeeded' }, 1],
      ['concilia_job_wait_seconds_count', { job: 'sync-statement' }, 1],
      ['concilia_queue_jobs', { job: 'reconcile', state: 'waiting' }, 0],
      ['concilia_timer_runs_total', { task: 'statement', result: 'succeeded' }, 1],
      ['concilia_pool_connections', { pool: 'database', state: 'idle' }, 0],
      ['concilia_pool_connections', { pool: 'queue', state: 'used' }, 1],
      ['process_cpu_seconds_total', {}, 0.1],
      ['process_resident_memory_bytes', {}, 1_000_000],
    ];
    const missing = expected.filter(
      ([name, labels, least]) => (find(samples, name, labels) ?? -1) < least,
    );
    expect(missing).toEqual([]);

    const ids = [
      ...[unknownId, 'order-4711', otherSlug, '1000001', '12345678909', receiver.url],
      ...[endToEndId, String(endpoint.id)],
    ];
    const values = samples.flatMap(({ labels }) => Object.values(labels));
    expect(values.filter((value) => ids.some((id) => value.includes(id)))).toEqual([]);
    const { body: reference } = await call('GET', '/openapi.json');
    const served = servedPaths(Object.keys(reference.paths as object));
    expect(samples.flatMap((one) => undeclaredLabels(one, served))).toEqual([]);
  }, 90_000);

  it('is documented in docs/reference/metrics.md, each metric with its labels', async () => {
    const shown = [...(await scrape()).matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    const documented = documentedMetrics();
    expect([...documented.keys()].sort()).toEqual(shown.sort());
    for (const [name, labels] of documented)
      expect([name, labels]).toEqual([name, Object.keys(declaredMetrics().get(name) ?? {})]);
    expect(new Set(shown).size).toBe(shown.length);
  });

  it('can have every value that the rules and dashboards of deploy/ select', () => {
    const selectors = deployedExpressions.flatMap(({ expr }) => selectorsOf(expr));
    expect(selectors.flatMap(impossibleValues)).toEqual([]);
    const wrong = selectorsOf('concilia_alerts_open{state=~"firing|fired"}');
    expect(wrong.flatMap(impossibleValues)).toEqual(['concilia_alerts_open state=fired']);
  });

  it('says of each metric what it is', async () => {
    const text = await scrape();
    for (const [, name = ''] of text.matchAll(/^# TYPE (\S+) /gm)) {
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\S.+\\.$`, 'm'));
      expect(name).toMatch(/^(concilia|nodejs|process)_[a-z_]+$/);
    }
  });
});
