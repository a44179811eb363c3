// The steps of an account's severities: what /v1/breaks and exports show follows from them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BreakReading } from '../../../src/reconciliation/breaks/break-reading.service.js';
import { expectError } from '../../contract/samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const path = '/v1/severity-steps';
let service: ServiceOnSandbox;
beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.pool.query(
    `INSERT INTO break (account_id, id, kind, state, subject, amount_cents, evidence)
     SELECT $1, gen_random_uuid(), 'unexpected', 'open', 'x:' || cents, cents, '{"candidates":[]}'
     FROM unnest('{9999, 1000000, 50000000}'::bigint[]) cents`,
    [service.accountId],
  );
});
afterAll(() => service.stop());

const severities = async () => {
  const { body } = await service.call('GET', '/v1/breaks');
  const shown = (body.data as { amount: number; severity: string }[]).map(
    ({ amount, severity }) => [amount, severity],
  );
  return Object.fromEntries(shown);
};
const idsOf = async (severity: string) =>
  (await service.call('GET', `/v1/breaks?severity=${severity}`)).body.data.length;
/** The counts of all open breaks, which are read from their totals. */
const counts = async () => {
  const reading = service.application.get(BreakReading, { strict: false });
  const { bySeverity } = await reading.countOpen(service.accountId);
  return Object.fromEntries(bySeverity.map(({ severity, breaks }) => [severity, Number(breaks)]));
};

it('are the default ones until the account sets its own, which count at once', async () => {
  const { body: byDefault } = await service.call('GET', path);
  expect(byDefault).toEqual({
    ...{ amounts: [100, 1_000, 10_000], businessDays: [1, 3, 10], changes: [] },
  });
  expect(await severities()).toEqual({ 99.99: 'low', 10000: 'medium', 500000: 'medium' });
  expect(await counts()).toEqual({ critical: 0, high: 0, medium: 2, low: 1 });

  const steps = { amounts: [100_000, 500_000, 1_000_000.5], businessDays: [2, 5, 20] };
  const { status, body } = await service.call('PUT', path, {
    body: { ...steps, reason: 'R$ 10.000 é rotina aqui' },
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    ...steps,
    changes: [
      {
        ...{ ...steps, reason: 'R$ 10.000 é rotina aqui', sequence: 1 },
        ...{ actor: expect.any(String), at: expect.stringMatching(/Z$/) },
      },
    ],
  });
  expect(await severities()).toEqual({ 99.99: 'low', 10000: 'low', 500000: 'medium' });
  expect([await idsOf('low'), await idsOf('medium')]).toEqual([2, 1]);
  expect(await counts()).toEqual({ critical: 0, high: 0, medium: 1, low: 2 });
  const { text } = await service.call('GET', '/v1/exports/breaks?format=csv');
  expect(text.match(/;low;|,low,/g)).toHaveLength(2);
});

it.each([
  ['$.amounts', { amounts: [1, 2] }],
  ['$.amounts', { amounts: [1, 3, 2] }],
  ['$.amounts', { amounts: [1, 1, 2] }],
  ['$.amounts[0]', { amounts: [0, 1, 2] }],
  ['$.businessDays[2]', { businessDays: [1, 2, 251] }],
  ['$.businessDays', { businessDays: [3, 2, 1] }],
  ['$.reason', { reason: 'ab' }],
])('are refused at %s for %j', async (field, wrong) => {
  const body = { amounts: [1, 2, 3], businessDays: [1, 2, 3], reason: 'because', ...wrong };
  expectError(await service.call('PUT', path, { body }), 400, field);
});

it('count each open break once, also after its amount, its state and the steps have changed', async () => {
  const change = (text: string) => service.pool.query(`UPDATE break SET ${text}`);
  const total = async () => {
    const { critical, high, medium, low } = await counts();
    return [critical, high, medium, low];
  };
  await change(`amount_cents = NULL WHERE subject = 'x:9999'`);
  expect(await total()).toEqual([0, 0, 1, 2]);
  await change(`amount_cents = 200000000, opened_day = '2020-01-02' WHERE subject = 'x:1000000'`);
  expect(await total()).toEqual([1, 0, 1, 1]);
  await change(`state = 'resolved', resolved_at = now()`);
  expect(await total()).toEqual([0, 0, 0, 0]);
  const rows = () => service.pool.query('SELECT * FROM open_break_total');
  expect((await rows()).rows).toEqual([]);
  await change(`state = 'open'`);
  expect(await total()).toEqual([1, 0, 1, 1]);
  const steps = { amounts: [1, 2, 3], businessDays: [1, 2, 3], reason: 'every amount matters' };
  await service.call('PUT', path, { body: steps });
  expect(await total()).toEqual([1, 0, 1, 1]);
});
