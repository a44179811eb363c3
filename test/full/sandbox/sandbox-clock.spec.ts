// The bank's clock: tests advance and freeze it, and every time that the bank reports comes from
// it.
import {
  createCaller,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { expectError } from '../../contract/samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(() => bank.stop());

const change = (body: unknown) => bank.call('POST', '/sandbox/clock', { body });
const read = async () => (await bank.call('GET', '/sandbox/clock')).body;
const post = () =>
  bank.call('POST', '/sandbox/transactions', {
    body: { amount: 1, isCredit: true, typeName: 'ANY_LINE' },
  });
const day = 86_400_000;

it('starts with the time of the machine', async () => {
  const before = Date.now();
  const { now, frozen } = await read();
  expect(Date.parse(now)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(now)).toBeLessThanOrEqual(Date.now());
  expect(frozen).toBe(false);
});

it('is set, and runs on from there', async () => {
  const { status, body } = await change({ now: '2030-05-01T12:00:00Z' });
  expect(status).toBe(200);
  const target = Date.parse('2030-05-01T12:00:00Z');
  expect(Date.parse(body.now)).toBeGreaterThanOrEqual(target);
  expect(Date.parse(body.now)).toBeLessThan(target + 30_000);
  expect(Date.parse((await read()).now)).toBeGreaterThan(Date.parse(body.now));
});

it('is advanced by durations that add up', async () => {
  const { now } = await read();
  await change({ advance: 'P1D' });
  await change({ advance: 'PT12H' });
  const moved = Date.parse((await read()).now) - Date.parse(now);
  expect(moved).toBeGreaterThanOrEqual(1.5 * day);
  expect(moved).toBeLessThan(1.5 * day + 30_000);
});

it('stands still while frozen, also when set or advanced, and runs again when unfrozen', async () => {
  const { body } = await change({ frozen: true });
  expect(body.frozen).toBe(true);
  expect(await read()).toEqual(body);
  const advanced = (await change({ advance: 'PT1H' })).body;
  expect(Date.parse(advanced.now) - Date.parse(body.now)).toBe(3_600_000);
  expect(await read()).toEqual(advanced);
  const set = (await change({ now: '2031-01-01T00:00:00.000Z' })).body;
  expect(set).toEqual({ now: '2031-01-01T00:00:00.000Z', frozen: true });
  expect((await change({ frozen: true })).body).toEqual(set);
  const freed = (await change({ frozen: false })).body;
  expect(freed.frozen).toBe(false);
  expect(Date.parse(freed.now)).toBeGreaterThanOrEqual(Date.parse(set.now));
  expect(Date.parse(freed.now)).toBeLessThan(Date.parse(set.now) + 30_000);
});

it('sets and freezes in one request', async () => {
  const { body } = await change({ now: '2030-01-01T00:00:00-03:00', frozen: true });
  expect(body).toEqual({ now: '2030-01-01T03:00:00.000Z', frozen: true });
});

it('applies each of several concurrent changes', async () => {
  const { now } = (await change({ frozen: true })).body;
  await Promise.all(Array.from({ length: 10 }, () => change({ advance: 'PT1M' })));
  expect(Date.parse((await read()).now) - Date.parse(now)).toBe(600_000);
});

it('never moves backwards', async () => {
  await change({ now: '2030-01-01T00:00:00.000Z', frozen: true });
  const refused = await change({ now: '2029-12-31T23:59:59.999Z' });
  expectError(refused, 422);
  expect(refused.text).toContain('clock_cannot_move_backwards');
  expect((await change({ now: '2030-01-01T00:00:00.000Z' })).status).toBe(200);
  expect((await read()).now).toBe('2030-01-01T00:00:00.000Z');
});

it('survives a restart, running or frozen', async () => {
  const readAfterRestart = async () => {
    const restartedBank = await bank.start();
    try {
      const call = createCaller(await restartedBank.getUrl(), 'sandbox-dev-key', 'sandbox');
      return (await call('GET', '/sandbox/clock')).body;
    } finally {
      await restartedBank.close();
    }
  };
  await change({ advance: 'P10D' });
  const { now } = await read();
  const restarted = await readAfterRestart();
  expect(Date.parse(restarted.now)).toBeGreaterThanOrEqual(Date.parse(now));
  expect(Date.parse(restarted.now)).toBeLessThan(Date.parse(now) + 30_000);
  const frozen = (await change({ frozen: true })).body;
  expect(await readAfterRestart()).toEqual(frozen);
});

it('is the Date header of every response, also of errors', async () => {
  await change({ now: '2030-05-01T12:00:00Z', frozen: true });
  const responses = [
    await bank.call('GET', '/sandbox/clock'),
    await bank.call('GET', '/baas/api/v2/transactions', { apiKey: null }),
    await bank.call('GET', '/nowhere'),
    await bank.call('GET', '/health/live', { apiKey: null }),
  ];
  expect(responses.map(({ headers }) => headers.get('date'))).toEqual(
    responses.map(() => 'Wed, 01 May 2030 12:00:00 GMT'),
  );
});

it('gives all lines of a frozen clock the same time, in the order of nsu', async () => {
  await change({ now: '2030-05-01T12:00:00.000Z', frozen: true });
  await Promise.all(Array.from({ length: 20 }, post));
  const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=100');
  expect(body.map(({ nsu }: { nsu: number }) => nsu)).toEqual(
    Array.from({ length: 20 }, (_, index) => 20 - index),
  );
  expect(new Set(body.map(({ createdAt }: { createdAt: string }) => createdAt))).toEqual(
    new Set(['2030-05-01T12:00:00.000Z']),
  );
  expect((await bank.call('GET', '/sandbox/ledger')).body.audit.clean).toBe(true);
});

it('never dates a line before its predecessor under concurrent clock changes', async () => {
  await Promise.all([
    ...Array.from({ length: 40 }, post),
    ...Array.from({ length: 10 }, (_, index) =>
      change({ advance: 'PT1M', frozen: index % 2 === 0 }),
    ),
  ]);
  expect((await bank.call('GET', '/sandbox/ledger')).body.audit).toEqual({
    clean: true,
    problems: [],
  });
});

it.each<[unknown, string]>([
  [{}, '$'],
  [{ frozen: null }, '$'],
  [{ now: '2030-01-01T00:00:00Z', advance: 'P1D' }, '$'],
  [{ now: 'tomorrow' }, '$.now'],
  [{ now: '2030-01-01' }, '$.now'],
  [{ now: '2030-13-01T00:00:00Z' }, '$.now'],
  [{ now: '2030-01-01T00:00:00Zx' }, '$.now'],
  [{ now: '2030-02-30T00:00:00Z' }, '$.now'],
  [{ now: '2030-01-01T00:00:00' }, '$.now'],
  [{ now: 12 }, '$.now'],
  [{ now: '2049-06-01T00:00:00Z' }, '$.now'],
  [{ advance: '1 day' }, '$.advance'],
  [{ advance: 'P-1D' }, '$.advance'],
  [{ advance: 'P100Y' }, '$.advance'],
  [{ advance: 'P99999999999999999999Y' }, '$.advance'],
  [{ advance: 3600 }, '$.advance'],
  [{ frozen: 'yes' }, '$.frozen'],
])('refuses %j', async (body, path) => {
  const before = await read();
  expectError(await change(body), 400, path);
  expect((await read()).frozen).toBe(before.frozen);
});

it('refuses malformed JSON, and a request without a key', async () => {
  expectError(await change('{'), 400);
  expectError(await bank.call('POST', '/sandbox/clock', { body: {}, apiKey: null }), 401);
});
