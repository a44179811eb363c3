// The button of First steps that opens the demonstration.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { signedInPerson } from '../../support/console-visitor.js';
import { until } from '../../support/until.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const firstSteps = '/console/accounts/main/first-steps';
const opening = `${firstSteps}?demo=opening`;
const shop = '/console/accounts/loja-aurora';

let service: ServiceOnSandbox;
beforeAll(async () => {
  service = await serviceOnSandbox();
}, 60_000);
afterAll(() => service.stop());

it('opens the shop once, and for an admin of the installation alone', async () => {
  const { accountId } = service;
  const analyst = await signedInPerson(service, 'analyst@example.com', {
    ...{ accountId, role: 'analyst' },
  });
  expect((await analyst.get(firstSteps)).text).not.toContain('first-steps/demo');
  expect((await analyst.submit(`${firstSteps}/demo`)).status).toBe(403);

  const admin = await signedInPerson(service, 'admin@example.com', {
    ...{ accountId: null, role: 'admin' },
  });
  expect((await admin.get(firstSteps)).text).toContain('first-steps/demo');
  const isOpen = async () => {
    const { status, location } = await admin.get(opening);
    return status === 303 && location === shop;
  };
  for (let time = 0; time < 2; time += 1) {
    const { status, location } = await admin.submit(`${firstSteps}/demo`);
    expect([status, location]).toEqual([303, opening]);
    if (time === 0) expect((await admin.get(opening)).text).toContain('<progress');
    await until('the shop is open', isOpen, 180_000);
  }
  const { rows } = await service.pool.query<{ count: number }>(
    'SELECT count(*)::int FROM expected_payment WHERE account_id <> $1',
    [accountId],
  );
  expect(rows[0]?.count).toBeGreaterThan(2_500);
  expect((await admin.get(`${shop}/today`)).status).toBe(200);
}, 240_000);
