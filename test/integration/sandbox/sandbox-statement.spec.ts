import type { BankSettings } from '../../../src/sandbox/bank-settings.service.js';
import type { SandboxSettings } from '../../../src/sandbox/sandbox-database.service.js';
import { jest } from '@jest/globals';
import { BankClock } from '../../../src/sandbox/clock/bank-clock.service.js';
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());
afterEach(() => jest.restoreAllMocks());

const postAt = async (instant: string): Promise<number> => {
  jest.spyOn(bank.application.get(BankClock), 'now').mockReturnValue(new Date(instant));
  const body = { amount: 1, isCredit: true, typeName: 'ANY_LINE' };
  return (await bank.call('POST', '/sandbox/transactions', { body })).body.nsu;
};
const list = async (query: string): Promise<number[]> => {
  const { body } = await bank.call('GET', `/baas/api/v2/transactions${query}`);
  return body.map((line: { nsu: number }) => line.nsu);
};

it('begins days at 03:00:00.000Z to the millisecond', async () => {
  const before = await postAt('2027-01-05T02:59:59.999Z');
  const first = await postAt('2027-01-05T03:00:00.000Z');
  const last = await postAt('2027-01-06T02:59:59.999Z');
  const after = await postAt('2027-01-06T03:00:00.000Z');
  expect(await list('?startDate=2027-01-05&endDate=2027-01-06')).toEqual([last, first]);
  expect(await list('?startDate=2027-01-06')).toEqual([after]);
  expect(await list('?endDate=2027-01-05')).toEqual([before]);
  expect(await list('?startDate=2027-01-06&endDate=2027-01-05')).toEqual([]);
});

it('returns at most 1,000 lines a page, newest first', async () => {
  for (let index = 0; index < 20; index += 1) await postAt('2027-02-01T12:00:00.000Z');
  const all = await list('?limit=99999');
  expect(all).toHaveLength(24);
  expect(all).toEqual([...all].sort((a, b) => b - a));
  expect(await list('?page=999999999999&limit=99999')).toEqual([]);
});

it('sends the time of its own clock in Date', async () => {
  await postAt('2027-02-01T12:00:00.000Z');
  const response = await bank.call('GET', '/baas/api/v2/transactions?limit=1');
  expect(response.headers.get('date')).toBe('Mon, 01 Feb 2027 12:00:00 GMT');
  const refused = await bank.call('GET', '/baas/api/v2/transactions', { apiKey: null });
  expect(refused.headers.get('date')).toBe('Mon, 01 Feb 2027 12:00:00 GMT');
});

it('never moves its clock backwards when the machine’s clock does', () => {
  const clock = new BankClock({} as BankSettings, { limits: {} } as SandboxSettings);
  const before = clock.now();
  jest.spyOn(Date, 'now').mockReturnValue(before.getTime() - 60_000);
  expect(clock.now()).toEqual(before);
});
