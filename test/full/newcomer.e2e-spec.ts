// `npm start` without any setting or database, as on a developer's first day.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { sampleChargeRequest, fetchChargeSettlement } from '../support/payments.js';
import { until } from '../support/until.js';

describe('npm start on a machine that only has Node.js', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'concilia-newcomer-'));
  let concilia: ConciliaProcess;

  beforeAll(async () => {
    concilia = await ConciliaProcess.with({ DATA_DIR: dataDir }, 'scripts/start.mjs');
  });

  afterAll(async () => {
    await concilia.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('shows progress, and prints addresses, keys and three commands to try', async () => {
    await concilia.start();
    expect(concilia.printed).toMatch(/\d\.\d s {2}PostgreSQL is ready/);
    await until('the banner is printed', () => concilia.printed.includes('Ctrl-C'));
    expect(concilia.printed).toContain(concilia.serviceUrl);
    expect(concilia.printed).toContain(concilia.bankUrl);
    expect(concilia.printed).toContain('concilia-dev-key');
    expect(concilia.printed.match(/^ {2}curl /gm)).toHaveLength(3);
  }, 60_000);

  it('serves the API reference of both applications', async () => {
    for (const url of [concilia.serviceUrl, concilia.bankUrl]) {
      expect((await fetch(`${url}/docs`)).status).toBe(200);
      const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
        openapi: string;
        paths: Record<string, unknown>;
      };
      expect(document.openapi).toBe('3.1.0');
      expect(Object.keys(document.paths)).toContain('/baas/v1/charges');
    }
  });

  it('stops every process that it started, and has all data at the next start', async () => {
    await concilia.callService('POST', '/baas/v1/charges', sampleChargeRequest('stored-1'));
    await concilia.callBank('POST', '/baas/v1/charges/stored-1/pay');
    await until(
      'the charge is settled',
      async () => (await fetchChargeSettlement(concilia, 'stored-1')) === 'settled',
    );
    expect(await concilia.stop()).toBe(0);
    expect(concilia.printed).toContain('PostgreSQL has stopped');

    const startedAt = Date.now();
    await concilia.start();
    expect(Date.now() - startedAt).toBeLessThan(15_000);
    expect(await fetchChargeSettlement(concilia, 'stored-1')).toBe('settled');
  }, 60_000);
});
