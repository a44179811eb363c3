// Requests drawn from the API reference of the service, as `fuzz-bank.e2e-spec.ts` draws them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Fuzz } from '../fuzz/fuzz.js';
import { serviceSettings, serviceWorld } from '../fuzz/service-world.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';

let databases: [service: TestDatabase, sandbox: TestDatabase];
let concilia: ConciliaProcess;
let receiver: HttpListener;

beforeAll(async () => {
  receiver = await listenHttp((_, response) => void response.end());
  databases = [await testDatabase('service'), await testDatabase('sandbox')];
  concilia = await ConciliaProcess.with({
    ...serviceSettings,
    ...{ DATABASE_URL: databases[0].url, SANDBOX_DATABASE_URL: databases[1].url },
  });
  await concilia.start();
}, 120_000);
afterAll(async () => {
  await concilia.stop();
  receiver.close();
  for (const database of databases) await database.drop();
});

it('answers every request as its reference says', async () => {
  const fuzz = new Fuzz(await serviceWorld(concilia, databases[0], receiver.url));
  await fuzz.send();
  process.stdout.write(`${fuzz.table}\n`);
  expect(fuzz.findings).toEqual([]);
}, 3_600_000);
