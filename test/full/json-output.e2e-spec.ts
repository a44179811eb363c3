// What a process prints in production: JSON from the first byte, also about wrong settings.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

interface Line {
  level: number;
  msg: string;
  route?: string;
  status?: number;
  traceId?: string;
}

describe('the output of a process in production', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
  });
  afterAll(async () => {
    await service.drop();
    await bank.drop();
  });

  const processWith = (settings: Record<string, string>) =>
    ConciliaProcess.with({
      ...{ NODE_ENV: 'production', DATABASE_URL: service.url, SANDBOX_DATABASE_URL: bank.url },
      ...settings,
    });
  /** Throws where a line is not JSON. */
  const linesOf = ({ printed }: ConciliaProcess) =>
    printed
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as Line);

  it('is JSON from its start to its end, with a line for each request on demand', async () => {
    const concilia = await processWith({ ACCESS_LOG: 'true' });
    await concilia.start();
    await concilia.callService('GET', '/v1/charges/maria@pessoa-dois.example?document=12345678909');
    await until('the request is logged', () => concilia.printed.includes('/v1/charges/:'));
    process.kill(concilia.pid, 'SIGTERM');
    await until('it has stopped', () => concilia.printed.includes('"Stopped"'), 60_000);
    await concilia.stop();
    const lines = linesOf(concilia);
    expect(lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(['The service is ready', 'Concilia is running', 'Stopped']),
    );
    expect(lines.find(({ route }) => route?.startsWith('/v1/charges/'))).toMatchObject({
      ...{ msg: 'request', method: 'GET', status: 400, traceId: expect.any(String) },
    });
    for (const secret of ['pessoa-dois', '12345678909', 'concilia-dev-key'])
      expect(concilia.printed).not.toContain(secret);
  }, 120_000);

  it('is JSON where a setting is wrong, and only what LOG_LEVEL asks for', async () => {
    const wrong = await processWith({ PORT: 'x' });
    await expect(wrong.start(15_000)).rejects.toThrow('PORT must be a port number');
    expect(linesOf(wrong)).toMatchObject([{ level: 50 }]);
    const quiet = await processWith({ LOG_LEVEL: 'error' });
    await quiet.start();
    await quiet.stop();
    expect(quiet.printed).toBe('');
  }, 120_000);
});
