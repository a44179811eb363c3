// Debian's Prometheus, with the configuration and rules of deploy/, scrapes a service that works:
// each panel of the dashboards has data, and nothing alerts. `promtool` tests the rules.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { ConciliaProcess, freePort } from '../support/concilia-process.js';
import { deployFolder, panelExpressions, readDeployed } from '../support/deployed-metrics.js';
import { registerReceiver, sampleChargeRequest } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const isInstalled = ['prometheus', 'promtool'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
);
if (!isInstalled)
  process.stderr.write('The tests of rules and dashboards are skipped: no prometheus, promtool.\n');
const run = isInstalled ? describe : describe.skip;

run('the rules', () => {
  it('pass the tests that promtool runs', () => {
    const options = { cwd: join(deployFolder, 'prometheus'), encoding: 'utf8' } as const;
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['test', 'rules', 'rules.test.yml'],
      options,
    );
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    const checked = spawnSync('promtool', ['check', 'config', 'prometheus.yml'], options);
    expect([checked.status, checked.stderr]).toEqual([0, '']);
  });
});

run('Prometheus beside a service that works', () => {
  const folder = mkdtempSync(join(tmpdir(), 'concilia-prometheus-'));
  let [service, bank]: TestDatabase[] = [];
  let concilia: ConciliaProcess;
  let receiver: Receiver;
  let prometheus: ChildProcess;
  let prometheusUrl: string;

  beforeAll(async () => {
    [service, bank] = [await testDatabase(), await testDatabase('sandbox')];
    receiver = await Receiver.listen();
    concilia = await ConciliaProcess.with({
      ...{ DATABASE_URL: service.url, SANDBOX_DATABASE_URL: bank.url, SYNC_INTERVAL_MS: '1000' },
    });
    await concilia.start();
    await registerReceiver(concilia, receiver);
    const port = await freePort();
    prometheusUrl = `http://127.0.0.1:${port}`;
    writeFileSync(join(folder, 'prometheus.yml'), configuration());
    prometheus = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
  }, 120_000);
  afterAll(async () => {
    const ended = new Promise((resolve) => prometheus.once('exit', resolve));
    prometheus.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
    await concilia.stop();
    await receiver.close();
    await service?.drop();
    await bank?.drop();
  });

  /** That of deploy/, for this service, and quicker. */
  function configuration(): string {
    const written = parse(readDeployed('prometheus', 'prometheus.yml')) as {
      scrape_configs: { job_name: string }[];
    };
    const targets = [new URL(concilia.serviceUrl).host];
    return stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(deployFolder, 'prometheus', 'rules.yml')],
      scrape_configs: written.scrape_configs.map(({ job_name }) => ({
        ...{ job_name, static_configs: [{ targets }] },
      })),
    });
  }

  async function read<Data>(path: string, query: Record<string, string> = {}): Promise<Data> {
    const response = await fetch(`${prometheusUrl}${path}?${new URLSearchParams(query)}`);
    const body = (await response.json()) as { status: string; error?: string; data: Data };
    expect([query, body.error ?? body.status]).toEqual([query, 'success']);
    return body.data;
  }

  async function hasData(expr: string): Promise<boolean> {
    const { result } = await read<{ result: { value: [number, string] }[] }>('/api/v1/query', {
      query: expr.replaceAll('$__rate_interval', '30s'),
    });
    return result.some(({ value: [, value] }) => value !== 'NaN');
  }

  let payments = 0;
  /** A charge that is paid, and a transfer. */
  async function work(): Promise<void> {
    const id = `scraped-${(payments += 1)}`;
    const post = async (path: string, body: unknown, headers = {}) => {
      const response = await concilia.callService('POST', path, body, headers);
      expect(response.status).toBeLessThan(300);
      return response.body;
    };
    await post('/baas/v1/charges', sampleChargeRequest(id));
    await concilia.callBank('POST', `/baas/v1/charges/${id}/pay`);
    const { endToEndId } = await post('/baas/api/v2/pix/dict/payment-initialization', {
      key: 'maria@pessoa-dois.example',
    });
    const transfer = { amount: 10.5, initiationType: 'KEY', endToEndId };
    await post('/baas/api/v2/transfers', transfer, { IdempotencyKey: id });
  }

  it('has data in each panel of the dashboards', async () => {
    let empty: string[] = [];
    await until(
      'each panel has data',
      async () => {
        await work();
        const found = await Promise.all(panelExpressions.map(({ expr }) => hasData(expr)));
        empty = panelExpressions.filter((_, index) => !found[index]).map(({ where }) => where);
        return empty.length === 0;
      },
      120_000,
    ).catch((error: unknown) => expect([error, empty]).toEqual([]));
  }, 150_000);

  it('evaluates each rule, and none alerts', async () => {
    interface Rule {
      name: string;
      health: string;
      state: string;
      lastError?: string;
    }
    const rules = await until('each rule was evaluated', async () => {
      const { groups } = await read<{ groups: { rules: Rule[] }[] }>('/api/v1/rules');
      const all = groups.flatMap((group) => group.rules);
      return all.every(({ health }) => health !== 'unknown') && all;
    });
    expect(rules.length).toBeGreaterThan(20);
    const wrong = rules.filter(({ health, state }) => health !== 'ok' || state === 'firing');
    expect(wrong).toEqual([]);
  });
});
