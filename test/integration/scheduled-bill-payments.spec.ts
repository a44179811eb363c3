import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BillPaymentLife } from '../../src/bill-payments/bill-payment-life.service.js';
import { billsAt, noon } from '../support/bills.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

describe('scheduled payments of bills', () => {
  let service: ServiceOnSandbox;
  let bills: ReturnType<typeof billsAt>;
  beforeAll(async () => {
    service = await serviceOnSandbox();
    bills = billsAt(service);
    await bills.setClock({ now: noon });
  });
  afterAll(() => service.stop());

  const events = async (type: string, id: string) =>
    (
      await service.pool.query(
        `SELECT data::json AS data FROM event WHERE type = $1 AND data::json ->> 'operationId' = $2`,
        [type, id],
      )
    ).rows.map(({ data }) => data);

  it('are told once, held against a second payment, and paid when the statement shows it', async () => {
    const { barCode } = await bills.newBill({ dueDate: '2026-12-20' });
    const payAt = '2026-11-24T15:00:00Z';
    const { body } = await bills.pay({ amount: 80, barCode, payAt });
    expect(body.status).toBe('SCHEDULED');
    const { id } = await bills.read(barCode);
    expect(await bills.read(id)).toMatchObject({
      state: 'scheduled',
      scheduledFor: '2026-11-24T15:00:00.000Z',
      settlement: 'open',
    });
    expect(await events('bill_payment.scheduled', id)).toEqual([
      { operationId: id, bankId: body.id, amount: 80, scheduledFor: '2026-11-24T15:00:00.000Z' },
    ]);
    const second = await bills.pay({ amount: 80, barCode });
    expect([second.status, second.body.code]).toEqual([422, 'bill_already_scheduled']);
    await bills.follow();
    expect((await bills.read(id)).state).toBe('scheduled');

    await bills.setClock({ now: '2026-11-24T15:01:00Z' });
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({ state: 'scheduled', bankStatus: 'PAID' });
    const { rows } = await service.pool.query(
      `SELECT nsu::int FROM "transaction" WHERE bill_code = $1`,
      [barCode],
    );
    await service.match(rows[0].nsu, await bills.expectedOf(barCode));
    await service.application.get(BillPaymentLife, { strict: false }).follow(service.accountId);
    expect(await bills.read(id)).toMatchObject({ state: 'paid', settlement: 'settled' });
  });

  it('have failed when the statement is closed without them, and not a moment before', async () => {
    const { barCode } = await bills.newBill({ amount: 100_000, dueDate: '2026-12-20' });
    const payAt = '2026-11-25T15:00:00Z';
    const { body } = await bills.pay({ amount: 100_000, barCode, payAt });
    expect(body.status).toBe('SCHEDULED');
    const { id } = await bills.read(barCode);
    await bills.setClock({ now: '2026-11-25T15:01:00Z' });
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({
      state: 'scheduled',
      bankStatus: 'PENDING_PAYMENT',
      settlement: 'open',
    });
    for (const [from, until] of [
      ['2026-11-25T14:59:30Z', '2026-11-25T15:01:00Z'],
      ['2026-11-01T00:00:00Z', '2026-11-25T15:00:09Z'],
    ] as const) {
      await bills.close(from, until);
      await bills.follow();
      expect((await bills.read(id)).state).toBe('scheduled');
    }
    await bills.close('2026-11-01T00:00:00Z', '2026-11-25T15:00:10Z');
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({ state: 'failed', settlement: 'withdrawn' });
    expect(await events('bill_payment.failed', id)).toEqual([
      {
        operationId: id,
        bankId: body.id,
        amount: 100_000,
        scheduledFor: '2026-11-25T15:00:00.000Z',
      },
    ]);
    // The bill is free again: the bank itself refuses it now.
    expect((await bills.pay({ amount: 100_000, barCode })).body.code).toBe('insufficient_funds');
  });

  it('have not failed while a debit that nothing explains could be theirs', async () => {
    const { barCode } = await bills.newBill({ amount: 200_000, dueDate: '2026-12-20' });
    await bills.pay({ amount: 200_000, barCode, payAt: '2026-11-26T15:00:00Z' });
    await bills.setClock({ now: '2026-11-26T15:01:00Z' });
    await service.pool.query(
      `INSERT INTO "transaction" (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
           balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
         VALUES ($1, 9999, 'x', false, 20000000, 'DEBIT', 0, 0, '2026-11-26T15:00:01Z', 'h', '{}')`,
      [service.accountId],
    );
    await bills.close('2026-11-01T00:00:00Z', '2026-11-26T16:00:00Z');
    await bills.follow();
    expect((await bills.read(barCode)).state).toBe('scheduled');
  });
});
