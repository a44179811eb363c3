// How many business days after its payment money is credited: what is owed, what is missing.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addBusinessDays, addDays } from '../../../src/brazil/calendar.js';
import { saoPauloDay } from '../../../src/brazil/statement-day.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { expectError, pixSlip, slip } from '../../contract/samples.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

let service: ServiceOnSandbox;
beforeAll(async () => {
  service = await serviceOnSandbox();
  await service.sync();
});
afterAll(() => service.stop());

const clock = (body: object) => service.bank.call('POST', '/sandbox/clock', { body });
const today = async () => {
  const { now } = (await service.bank.call('GET', '/sandbox/clock')).body;
  return saoPauloDay(new Date(now));
};
/** Sets the bank's clock to noon of a day. */
const goTo = async (day: string) => {
  expect((await clock({ now: `${day}T15:00:00Z` })).status).toBe(200);
};
const reconcile = async () => {
  await service.sync();
  await service.application
    .get(ReconciliationService, { strict: false })
    .reconcile({ accountId: service.accountId });
};
const late = (dueDate: string) => ({
  ...{ dueDate, Amount: 100 },
  lateFine: { type: 'Percentage', date: dueDate, amount: 2 },
  latePayment: { type: 'Fixed', date: dueDate, amount: 1 },
});
const issue = async (body: { correlationId: string }) => {
  expect((await service.call('POST', '/baas/v1/charges', { body })).status).toBe(200);
  return body.correlationId;
};
const read = async (id: string) => (await service.call('GET', `/v1/charges/${id}`)).body;
const setSlipDays = (businessDays: number) =>
  service.call('PUT', '/v1/credit-days', {
    body: { way: 'slip', businessDays, reason: 'as agreed with the bank' },
  });

describe('credit days', () => {
  it('are those of the bank profile until the account sets its own', async () => {
    const before = (await service.call('GET', '/v1/credit-days')).body;
    expect(before).toMatchObject({
      ways: [
        { way: 'slip', businessDays: 1, source: 'bank_profile', observed: null },
        { way: 'pix', businessDays: 0 },
        { way: 'other', businessDays: 1 },
      ],
      changes: [],
    });
    expectError(await setSlipDays(31), 400, '$.businessDays');
    const { status, body } = await setSlipDays(2);
    expect([status, body.ways[0]]).toEqual([
      200,
      { way: 'slip', businessDays: 2, source: 'account', observed: null },
    ]);
    expect(body.changes).toMatchObject([{ businessDays: 2, reason: 'as agreed with the bank' }]);
  });

  it('decide from when a charge is missing, also of earlier charges', async () => {
    await setSlipDays(1);
    const dueDate = addBusinessDays(await today(), 1);
    const id = await issue(slip({ dueDate }));
    const { expectedPaymentId } = await read(id);
    const missing = async () => {
      await reconcile();
      const { body } = await service.call('GET', '/v1/breaks?kind=missing&limit=100');
      return body.data
        .filter((one: { expectedPaymentId: string }) => one.expectedPaymentId === expectedPaymentId)
        .map(({ state }: { state: string }) => state);
    };
    await goTo(addBusinessDays(dueDate, 1));
    expect(await missing()).toEqual([]);
    await goTo(addBusinessDays(dueDate, 2));
    expect(await missing()).toEqual(['open']);
    await setSlipDays(2);
    expect(await missing()).toEqual(['resolved']);
    await goTo(addBusinessDays(dueDate, 3));
    expect(await missing()).toEqual(['open']);
  });

  it('do not count for a Pix, which has its own day', async () => {
    const dueDate = addBusinessDays(await today(), 1);
    const id = await issue(pixSlip({ ...late(dueDate), discount: undefined }));
    await goTo(addDays(addBusinessDays(dueDate, 1), 1));
    const pixPayment = { correlationId: id, amount: 100 };
    await service.bank.call('POST', '/sandbox/pix/received', { body: pixPayment });
    await reconcile();
    const { settlement, payments } = await read(id);
    expect(settlement).toBe('partially_settled');
    expect(payments[0].paidAt).toBe(payments[0].creditedAt);
  });
});
