import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BillPaymentLife } from '../../src/bill-payments/bill-payment-life.service.js';
import { BillPaymentsService } from '../../src/bill-payments/bill-payments.service.js';
import type { OperationKind } from '../../src/operations/operation.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

interface Bill {
  barCode: string;
  digitableLine: string;
}

/** Noon of a Monday in São Paulo: bills are paid at once. */
const noon = '2026-11-23T15:00:00Z';

describe('payments of bills', () => {
  let service: ServiceOnSandbox;

  beforeAll(async () => {
    service = await serviceOnSandbox();
    await setClock({ now: noon });
  });
  afterAll(() => service.stop());

  /** The service learns the bank's time with its next poll. */
  const setClock = async (change: object) => {
    const { status } = await service.bank.call('POST', '/sandbox/clock', { body: change });
    expect(status).toBe(200);
    await service.sync();
  };
  const newBill = async (fields: object = {}): Promise<Bill> =>
    (
      await service.bank.call('POST', '/sandbox/bills', {
        body: { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80, ...fields },
      })
    ).body;
  const pay = (body: object, key: string = randomUUID()) =>
    service.call('POST', '/baas/api/v1/bill-payments', { body, headers: { IdempotencyKey: key } });
  const read = async (id: string) => (await service.call('GET', `/v1/bill-payments/${id}`)).body;
  const paidAtBank = async (barCode: string): Promise<{ id: string; status: string }[]> => {
    const { body } = await service.bank.call('GET', '/sandbox/bill-payments');
    const payments = (body.data ?? body) as { id: string; barCode: string; status: string }[];
    return payments.filter((one) => one.barCode === barCode);
  };
  const operations = async () =>
    (await service.pool.query(`SELECT count(*)::int AS count FROM operation`)).rows[0].count;
  const expectedOf = async (barCode: string): Promise<string> =>
    (
      await service.pool.query(
        `SELECT expected_payment_id AS id FROM bill_payment WHERE bar_code = $1 ORDER BY id DESC LIMIT 1`,
        [barCode],
      )
    ).rows[0].id;
  const follow = async () => {
    await service.pool.query(
      `UPDATE bill_payment SET next_check_at = now() WHERE next_check_at IS NOT NULL`,
    );
    await service.application.get(BillPaymentLife, { strict: false }).follow(service.accountId);
  };
  /** What two full readings of the statement would have proven. */
  const close = (from: string, until: string) =>
    service.pool.query(`UPDATE statement_state SET closed_from = $1, closed_until = $2`, [
      from,
      until,
    ]);

  it('pays a bill by either of its codes, and tells it by its three ids', async () => {
    const { barCode, digitableLine } = await newBill();
    const { status, body } = await pay({ amount: 80, digitableLine });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'PAID', barCode, paidAmount: 80 });
    const { rows } = await service.pool.query(
      `SELECT kind, value FROM expected_payment_reference WHERE expected_payment_id = $1 ORDER BY kind`,
      [await expectedOf(barCode)],
    );
    expect(rows).toEqual([
      { kind: 'bill_code', value: barCode },
      { kind: 'idempotency_key', value: expect.any(String) },
      { kind: 'movement_id', value: body.id },
      { kind: 'nsu', value: String(body.transactionNsu) },
    ]);
    const payment = await read(barCode);
    expect(payment).toMatchObject({
      bankId: body.id,
      state: 'paid',
      settlement: 'open',
      amount: 80,
      nsu: null,
      returns: [],
      response: body,
    });
    expect(await read(body.id)).toEqual(payment);
    expect(await read(payment.id)).toEqual(payment);
    await service.sync();
    await service.match(body.transactionNsu, await expectedOf(barCode));
    expect(await read(barCode)).toMatchObject({ settlement: 'settled', nsu: body.transactionNsu });
    const { body: list } = await service.call('GET', '/v1/bill-payments?limit=1');
    expect(list.data).toEqual([await read(payment.id)]);
  });

  it.each([
    ['one that is paid', { status: 'PAID' }, 80, 'bill_not_payable'],
    ['one that is blocked', { status: 'BLOCKED_PAYMENT' }, 80, 'bill_not_payable'],
    ['less than is charged', {}, 79.99, 'amount_out_of_range'],
    [
      'less than the range',
      { isAllowPartialPayment: true, minimumPaymentAmount: 10, maximumPaymentAmount: 90 },
      9.99,
      'amount_out_of_range',
    ],
  ])('refuses %s and stores nothing', async (_, fields, amount, code) => {
    const { barCode } = await newBill(fields);
    const before = await operations();
    const { status, body } = await pay({ amount, barCode });
    expect([status, body.code]).toEqual([422, code]);
    expect(await operations()).toBe(before);
  });

  it('takes an amount within the range of a bill that may be paid in part', async () => {
    const range = { isAllowPartialPayment: true, minimumPaymentAmount: 10 };
    const { barCode } = await newBill({ ...range, maximumPaymentAmount: 90 });
    expect((await pay({ amount: 12.34, barCode })).body.paidAmount).toBe(12.34);
  });

  it('refuses a time that is past, on its path, and stores nothing', async () => {
    const { barCode } = await newBill();
    const before = await operations();
    const { status, body } = await pay({ amount: 80, barCode, payAt: '2026-11-23T14:00:00Z' });
    expect([status, body.errors]).toEqual([400, { '$.payAt': ['Is in the past.'] }]);
    expect(await operations()).toBe(before);
  });

  it('stores nothing when the bank cannot say what the bill is', async () => {
    const { barCode } = await newBill();
    const before = await operations();
    const fault = { endpoint: 'bill-payments', kind: 'error-before-effect', method: 'GET' };
    await service.bank.call('POST', '/sandbox/faults', { body: { ...fault, times: 1 } });
    expect((await pay({ amount: 80, barCode })).status).toBe(502);
    expect(await operations()).toBe(before);
    expect((await pay({ amount: 80, barCode })).status).toBe(200);
  });

  it('gives a repeat its answer although the bill is paid, by that very payment', async () => {
    const { barCode } = await newBill();
    const key = randomUUID();
    const first = await pay({ amount: 80, barCode }, key);
    const repeat = await pay({ amount: 80, barCode }, key);
    expect(repeat.text).toBe(first.text);
    expect(repeat.headers.get('Idempotent-Replayed')).toBe('true');
    const other = await pay({ amount: 80, barCode });
    expect([other.status, other.body.code]).toEqual([422, 'bill_not_payable']);
    expect(other.headers.get('Location')).toBe(`/v1/operations/${(await read(barCode)).id}`);
  });

  it('pays a bill once when twenty ask for it at once, by its code and by its line', async () => {
    const { barCode, digitableLine } = await newBill();
    await service.bank.warmUp();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        pay({ amount: 80, ...(index % 2 ? { barCode } : { digitableLine }) }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(422)]);
    for (const { status, body } of answers)
      if (status === 422) expect(body.code).toMatch(/^bill_(already_scheduled|not_payable)$/);
    expect(await paidAtBank(barCode)).toHaveLength(1);
  });

  it('frees the bill when the bank rejects its payment', async () => {
    const { barCode } = await newBill({ amount: 900_000 });
    expect((await pay({ amount: 900_000, barCode })).body.code).toBe('insufficient_funds');
    expect(await read(barCode)).toMatchObject({ state: 'rejected', settlement: 'withdrawn' });
    expect((await pay({ amount: 900_000, barCode })).body.code).toBe('insufficient_funds');
  });

  it('frees a bill whose money has all come back, and pays it anew', async () => {
    const { barCode } = await newBill();
    const { body: paid } = await pay({ amount: 80, barCode });
    const expected = await expectedOf(barCode);
    await service.bank.call('POST', `/sandbox/bill-payments/${paid.id}/chargeback`);
    expect((await pay({ amount: 80, barCode })).body.code).toBe('bill_not_payable');
    await service.sync();
    const { rows } = await service.pool.query(
      `SELECT nsu::int FROM "transaction" WHERE movement_id = $1 ORDER BY nsu`,
      [paid.id],
    );
    await service.match(rows[0].nsu, expected);
    await service.match(rows[1].nsu, expected, 'return');
    expect(await read(paid.id)).toMatchObject({
      state: 'paid',
      settlement: 'returned',
      returns: [{ nsu: rows[1].nsu, amount: 80 }],
    });
    expect((await pay({ amount: 80, barCode })).body.status).toBe('PAID');
  });

  it('revives what was taken for not executed, unless the bill is another’s by now', async () => {
    const { kind } = service.application.get(BillPaymentsService, { strict: false }) as unknown as {
      kind: OperationKind;
    };
    const { barCode } = await newBill({ amount: 950_000 });
    await pay({ amount: 950_000, barCode });
    const { id } = await read(barCode);
    const operation = {
      accountId: service.accountId,
      id,
      createdAt: new Date(),
      requestBody: '{}',
    };
    const revive = () =>
      service.database.transaction((tx) =>
        kind.onSucceeded!(tx, operation as never, { answer: null }),
      );
    await revive();
    await revive();
    expect((await read(id)).state).toBe('paid');
    await service.pool.query(`UPDATE bill_payment SET state = 'rejected' WHERE id = $1`, [id]);
    await service.pool.query(
      `INSERT INTO bill_payment (account_id, id, bar_code, amount_cents, state, expected_payment_id)
       VALUES ($1, gen_random_uuid(), $2, 1, 'paid', gen_random_uuid())`,
      [service.accountId, barCode],
    );
    await revive();
    expect((await read(id)).state).toBe('rejected');
  });

  describe('that are scheduled', () => {
    const events = async (type: string, id: string) =>
      (
        await service.pool.query(
          `SELECT data::json AS data FROM event WHERE type = $1 AND data::json ->> 'operationId' = $2`,
          [type, id],
        )
      ).rows.map(({ data }) => data);

    it('are told once, held against a second payment, and paid when the statement shows it', async () => {
      const { barCode } = await newBill({ dueDate: '2026-12-20' });
      const payAt = '2026-11-24T15:00:00Z';
      const { body } = await pay({ amount: 80, barCode, payAt });
      expect(body.status).toBe('SCHEDULED');
      const { id } = await read(barCode);
      expect(await read(id)).toMatchObject({
        state: 'scheduled',
        scheduledFor: '2026-11-24T15:00:00.000Z',
        settlement: 'open',
      });
      expect(await events('bill_payment.scheduled', id)).toEqual([
        { operationId: id, bankId: body.id, amount: 80, scheduledFor: '2026-11-24T15:00:00.000Z' },
      ]);
      const second = await pay({ amount: 80, barCode });
      expect([second.status, second.body.code]).toEqual([422, 'bill_already_scheduled']);
      await follow();
      expect((await read(id)).state).toBe('scheduled');

      await setClock({ now: '2026-11-24T15:01:00Z' });
      await follow();
      expect(await read(id)).toMatchObject({ state: 'scheduled', bankStatus: 'PAID' });
      const { rows } = await service.pool.query(
        `SELECT nsu::int FROM "transaction" WHERE bill_code = $1`,
        [barCode],
      );
      await service.match(rows[0].nsu, await expectedOf(barCode));
      await service.application.get(BillPaymentLife, { strict: false }).follow(service.accountId);
      expect(await read(id)).toMatchObject({ state: 'paid', settlement: 'settled' });
    });

    it('have failed when the statement is closed without them, and not a moment before', async () => {
      const { barCode } = await newBill({ amount: 100_000, dueDate: '2026-12-20' });
      const payAt = '2026-11-25T15:00:00Z';
      const { body } = await pay({ amount: 100_000, barCode, payAt });
      expect(body.status).toBe('SCHEDULED');
      const { id } = await read(barCode);
      await setClock({ now: '2026-11-25T15:01:00Z' });
      await follow();
      expect(await read(id)).toMatchObject({
        state: 'scheduled',
        bankStatus: 'PENDING_PAYMENT',
        settlement: 'open',
      });
      for (const [from, until] of [
        ['2026-11-25T14:59:30Z', '2026-11-25T15:01:00Z'],
        ['2026-11-01T00:00:00Z', '2026-11-25T15:00:09Z'],
      ] as const) {
        await close(from, until);
        await follow();
        expect((await read(id)).state).toBe('scheduled');
      }
      await close('2026-11-01T00:00:00Z', '2026-11-25T15:00:10Z');
      await follow();
      expect(await read(id)).toMatchObject({ state: 'failed', settlement: 'withdrawn' });
      expect(await events('bill_payment.failed', id)).toEqual([
        {
          operationId: id,
          bankId: body.id,
          amount: 100_000,
          scheduledFor: '2026-11-25T15:00:00.000Z',
        },
      ]);
      // The bill is free again: the bank itself refuses it now.
      expect((await pay({ amount: 100_000, barCode })).body.code).toBe('insufficient_funds');
    });

    it('have not failed while a debit that nothing explains could be theirs', async () => {
      const { barCode } = await newBill({ amount: 200_000, dueDate: '2026-12-20' });
      await pay({ amount: 200_000, barCode, payAt: '2026-11-26T15:00:00Z' });
      await setClock({ now: '2026-11-26T15:01:00Z' });
      await service.pool.query(
        `INSERT INTO "transaction" (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
           balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
         VALUES ($1, 9999, 'x', false, 20000000, 'DEBIT', 0, 0, '2026-11-26T15:00:01Z', 'h', '{}')`,
        [service.accountId],
      );
      await close('2026-11-01T00:00:00Z', '2026-11-26T16:00:00Z');
      await follow();
      expect((await read(barCode)).state).toBe('scheduled');
    });
  });
});
