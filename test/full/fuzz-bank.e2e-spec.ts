// Requests drawn from the API reference of the sandbox bank. FUZZ_SEED repeats a run, and
// FUZZ_REQUESTS says how many requests each operation is sent.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { bankWorld } from '../fuzz/bank-world.js';
import { Fuzz } from '../fuzz/fuzz.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';

let database: TestDatabase;
let bank: ConciliaProcess;

beforeAll(async () => {
  database = await testDatabase('sandbox');
  bank = await ConciliaProcess.with({ ROLES: 'sandbox', SANDBOX_DATABASE_URL: database.url });
  await bank.start();
}, 120_000);
afterAll(async () => {
  await bank.stop();
  await database.drop();
});

async function expectNothing(isDisturbing: boolean) {
  const fuzz = new Fuzz(await bankWorld(bank, isDisturbing));
  await fuzz.send();
  process.stdout.write(`${fuzz.table}\n`);
  expect(fuzz.findings).toEqual([]);
}

it('answers every request as its reference says', () => expectNothing(false), 1_200_000);

it('has a ledger without problems then', async () => {
  const { body } = await bank.callBank('GET', '/sandbox/ledger?audit=true&limit=1');
  expect(body.audit).toEqual({ clean: true, problems: [] });
});

it('also answers requests that change the bank itself', () => expectNothing(true), 600_000);
