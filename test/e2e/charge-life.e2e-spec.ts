// Charges that end otherwise than by money: what the bank's own record says is believed, a webhook never.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dayFromToday } from '../contract/samples.js';
import { ConciliaProcess } from '../support/concilia-process.js';
import { chargeRequest, settlementOf } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

interface Event {
  type: string;
  data: { correlationId: string };
}

describe('a charge that nobody paid', () => {
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
    const id = `life-${count}`;
    const request = { ...chargeRequest(id), ...changes };
    expect((await concilia.ask('POST', '/baas/v1/charges', request)).status).toBe(200);
    return id;
  };
  const read = async (id: string) => (await concilia.ask('GET', `/v1/charges/${id}`)).body;
  const becomes = (id: string, settlement: string) =>
    until(`${id} is ${settlement}`, async () => (await settlementOf(concilia, id)) === settlement);
  const told = async (id: string) => {
    const { body } = await concilia.ask<{ data: Event[] }>('GET', '/v1/events?limit=500');
    return body.data.filter(({ data }) => data.correlationId === id).map(({ type }) => type);
  };

  it.each(['BANKSLIP', 'BANKSLIP_PIX'])(
    'is cancelled when a %s is void at the bank, told once, and settled if it is paid all the same',
    async (type) => {
      const id = await issue({ type });
      await concilia.bank('POST', `/baas/v1/charges/${id}/void`);
      await becomes(id, 'cancelled');
      expect(await read(id)).toMatchObject({ status: 'Voided', cancelledAt: expect.any(String) });
      expect(await told(id)).toEqual(['charge.cancelled']);
      await concilia.bank('POST', `/baas/v1/charges/${id}/pay`);
      await becomes(id, 'settled');
      expect((await read(id)).cancelledAt).toEqual(expect.any(String));
      expect((await told(id)).filter((one) => one === 'charge.cancelled')).toHaveLength(1);
    },
  );

  it('is cancelled by no webhook: the bank is asked, and says otherwise', async () => {
    const id = await issue();
    await service.pool.query(
      `INSERT INTO webhook_event (account_id, id, event_type, body_hash, body, state, reference_kind, reference)
       SELECT id, $1, 'CHARGE_VOIDED', $2, '', 'pending', 'correlation_id', $3 FROM bank_account`,
      [randomUUID(), randomUUID(), id],
    );
    await until('the bank was asked', async () => {
      const { rows } = await service.pool.query<{ checks: number }>(
        `SELECT checks FROM charge WHERE correlation_id = $1 AND bank_status = 'Pending'
           OR correlation_id = $1 AND bank_status = 'Created'`,
        [id],
      );
      return (rows[0]?.checks ?? 0) > 0;
    });
    expect(await settlementOf(concilia, id)).toBe('open');
    expect(await told(id)).toEqual([]);
  });

  it('is expired when the simulation says so, and told once', async () => {
    const id = await issue();
    expect((await concilia.ask('PUT', `/baas/v1/charges/${id}/expire`)).status).toBe(200);
    await becomes(id, 'expired');
    await until('it is told', async () => (await told(id)).length > 0);
    expect(await read(id)).toMatchObject({ status: 'Expired', expiredAt: expect.any(String) });
    expect(await told(id)).toEqual(['charge.expired']);
  });

  it('is looked at when its day has passed, whatever became of the webhooks', async () => {
    const dueDate = dayFromToday(5);
    const [unpaid, paid, isVoid] = [
      await issue({ dueDate }),
      await issue({ dueDate }),
      await issue({ dueDate }),
    ];
    await concilia.bank('POST', `/baas/v1/charges/${paid}/pay`);
    await becomes(paid, 'settled');
    await concilia.bank('POST', '/sandbox/faults', { endpoint: 'charges', kind: 'webhook-lost' });
    await concilia.bank('POST', `/baas/v1/charges/${isVoid}/void`);
    await concilia.bank('POST', '/sandbox/clock', { advance: 'P20D' });
    await becomes(unpaid, 'expired');
    await becomes(isVoid, 'cancelled');
    await until('it is told', async () => (await told(unpaid)).length > 0);
    expect(await told(unpaid)).toEqual(['charge.expired']);
    expect(await told(isVoid)).toEqual(['charge.cancelled']);
    expect(await told(paid)).toEqual(['charge.paid']);
    const { rows } = await service.pool.query(
      `SELECT correlation_id FROM charge WHERE next_check_at < now() + interval '19 days'`,
    );
    expect(rows).toEqual([]);
  }, 30_000);
});
