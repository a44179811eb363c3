// The button of First steps that opens the demonstration.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { signedInPerson } from '../../support/console-visitor.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

const firstSteps = '/console/accounts/main/first-steps';
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
  for (let time = 0; time < 2; time += 1) {
    const { status, location } = await admin.submit(`${firstSteps}/demo`);
    expect([status, location]).toEqual([303, shop]);
  }
  const { rows } = await service.pool.query<{ count: number }>(
    'SELECT count(*)::int FROM expected_payment WHERE account_id <> $1',
    [accountId],
  );
  expect(rows[0]?.count).toBeGreaterThan(2_500);
  expect((await admin.get(`${shop}/today`)).status).toBe(200);
}, 240_000);
