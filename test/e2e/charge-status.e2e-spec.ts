// Charges that end without a payment: only the bank's own record decides, never a webhook.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayFromToday } from '../contract/samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { sampleChargeRequest, fetchChargeSettlement } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

interface Event {
  type: string;
  data: { correlationId: string };
}

describe('a charge without a payment', () => {
  let service: TestDatabase;
  let bank: TestDatabase;
  let concilia: ConciliaProcess;
  let count = 0;

  beforeAll(async () => {
    [service, bank] = [await testDatabase('service'), await testDatabase('sandbox')];
    concilia = await ConciliaProcess.with({
      DATABASE_URL: service.url,
      SANDBOX_DATABASE_URL: bank.url,
      SYNC_INTERVAL_MS: '1000',
    });
    await concilia.start();
  }, 60_000);
  afterAll(async () => {
    await concilia.stop();
    await service.drop();
    await bank.drop();
  });

  const issue = async (changes: Record<string, unknown> = {}) => {
    count += 1;
    const id = `status-${count}`;
    const request = { ...sampleChargeRequest(id), ...changes };
    expect((await concilia.callService('POST', '/baas/v1/charges', request)).status).toBe(200);
    return id;
  };
  const read = async (id: string) => (await concilia.callService('GET', `/v1/charges/${id}`)).body;
  const waitForSettlement = (id: string, settlement: string) =>
    until(
      `${id} is ${settlement}`,
      async () => (await fetchChargeSettlement(concilia, id)) === settlement,
    );
  const eventTypesOf = async (id: string) => {
    const { body } = await concilia.callService<{ data: Event[] }>('GET', '/v1/events?limit=500');
    // An overdue charge is a break too, which names it.
    const ofCharge = body.data.filter(({ type }) => type.startsWith('charge.'));
    return ofCharge.filter(({ data }) => data.correlationId === id).map(({ type }) => type);
  };

  it.each(['BANKSLIP', 'BANKSLIP_PIX'])(
    'is cancelled when a %s is voided at the bank, with one event, and settled if it is still paid',
    async (type) => {
      const id = await issue({ type });
      await concilia.callBank('POST', `/baas/v1/charges/${id}/void`);
      await waitForSettlement(id, 'cancelled');
      expect(await read(id)).toMatchObject({ status: 'Voided', cancelledAt: expect.any(String) });
      expect(await eventTypesOf(id)).toEqual(['charge.cancelled']);
      await concilia.callBank('POST', `/baas/v1/charges/${id}/pay`);
      await waitForSettlement(id, 'settled');
      expect((await read(id)).cancelledAt).toEqual(expect.any(String));
      expect(
        (await eventTypesOf(id)).filter((eventType) => eventType === 'charge.cancelled'),
      ).toHaveLength(1);
    },
  );

  it('stays open after a cancellation webhook that the bank’s record contradicts', async () => {
    const id = await issue();
    await service.pool.query(
      `INSERT INTO webhook_event
         (account_id, event_type, body_hash, body, state, reference_kind, reference)
       SELECT id, 'CHARGE_VOIDED', $1, '', 'pending', 'correlation_id', $2 FROM bank_account`,
      [randomUUID(), id],
    );
    await until('the status was checked', async () => {
      const { rows } = await service.pool.query<{ checks: number }>(
        `SELECT checks FROM charge WHERE correlation_id = $1 AND bank_status = 'Pending'
           OR correlation_id = $1 AND bank_status = 'Created'`,
        [id],
      );
      return (rows[0]?.checks ?? 0) > 0;
    });
    expect(await fetchChargeSettlement(concilia, id)).toBe('open');
    expect(await eventTypesOf(id)).toEqual([]);
  });

  it('expires when it is expired by simulation, with one event', async () => {
    const id = await issue();
    expect((await concilia.callService('PUT', `/baas/v1/charges/${id}/expire`)).status).toBe(200);
    await waitForSettlement(id, 'expired');
    await until('the event is recorded', async () => (await eventTypesOf(id)).length > 0);
    expect(await read(id)).toMatchObject({ status: 'Expired', expiredAt: expect.any(String) });
    expect(await eventTypesOf(id)).toEqual(['charge.expired']);
  });

  it('is checked after its due date, also when webhooks are lost', async () => {
    const dueDate = dayFromToday(5);
    const [unpaid, paid, voided] = [
      await issue({ dueDate }),
      await issue({ dueDate }),
      await issue({ dueDate }),
    ];
    await concilia.callBank('POST', `/baas/v1/charges/${paid}/pay`);
    await waitForSettlement(paid, 'settled');
    await concilia.callBank('POST', '/sandbox/faults', {
      endpoint: 'charges',
      kind: 'webhook-lost',
    });
    await concilia.callBank('POST', `/baas/v1/charges/${voided}/void`);
    await concilia.callBank('POST', '/sandbox/clock', { advance: 'P20D' });
    await waitForSettlement(unpaid, 'expired');
    await waitForSettlement(voided, 'cancelled');
    await until('the event is recorded', async () => (await eventTypesOf(unpaid)).length > 0);
    expect(await eventTypesOf(unpaid)).toEqual(['charge.expired']);
    expect(await eventTypesOf(voided)).toEqual(['charge.cancelled']);
    expect(await eventTypesOf(paid)).toEqual(['charge.paid']);
    const { rows } = await service.pool.query(
      `SELECT correlation_id FROM charge WHERE next_check_at < now() + interval '19 days'`,
    );
    expect(rows).toEqual([]);
  }, 30_000);
});
