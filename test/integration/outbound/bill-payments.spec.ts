import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BillPaymentsService } from '../../../src/outbound/bill-payments/bill-payments.service.js';
import type { OperationKind } from '../../../src/outbound/operations/operation.js';
import { Database } from '../../../src/platform/postgres/database.service.js';
import { listPaymentFacts } from '../../../src/reconciliation/load/payment-facts.queries.js';
import { billsAt, noon } from '../../support/bills.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { addPayments } from '../../support/parent-rows.js';
import { until } from '../../support/until.js';

describe('bill payments', () => {
  let service: ServiceOnSandbox;
  let bills: ReturnType<typeof billsAt>;

  beforeAll(async () => {
    service = await serviceOnSandbox();
    bills = billsAt(service);
    await bills.setClock({ now: noon });
  });
  afterAll(() => service.stop());

  it('pays a bill by either code, and finds the payment by three ids', async () => {
    const { barCode, digitableLine } = await bills.newBill();
    const { status, body } = await bills.pay({ amount: 80, digitableLine });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'PAID', barCode, paidAmount: 80 });
    const { rows } = await service.pool.query(
      `SELECT kind, value FROM expected_payment_reference
       WHERE expected_payment_id = $1 ORDER BY kind`,
      [await bills.expectedPaymentOf(barCode)],
    );
    expect(rows).toEqual([
      { kind: 'bill_code', value: barCode },
      { kind: 'idempotency_key', value: expect.any(String) },
      { kind: 'movement_id', value: body.id },
      { kind: 'nsu', value: String(body.transactionNsu) },
    ]);
    const payment = await bills.read(barCode);
    expect(payment).toMatchObject({
      bankId: body.id,
      state: 'paid',
      settlement: 'open',
      amount: 80,
      nsu: null,
      reversals: [],
      response: body,
    });
    expect(await bills.read(body.id)).toEqual(payment);
    expect(await bills.read(payment.id)).toEqual(payment);
    await service.sync();
    await service.match(body.transactionNsu, await bills.expectedPaymentOf(barCode));
    expect(await bills.read(barCode)).toMatchObject({
      settlement: 'settled',
      nsu: body.transactionNsu,
    });
    const { body: list } = await service.call('GET', '/v1/bill-payments?limit=1');
    expect(list.data).toEqual([await bills.read(payment.id)]);
  });

  it('stores what the bill allows, as the matcher reads it', async () => {
    const partial = { isAllowPartialPayment: true, minimumPaymentAmount: 50 };
    const { barCode } = await bills.newBill({ ...partial, maximumPaymentAmount: 90 });
    expect((await bills.pay({ amount: 60, barCode })).status).toBe(200);
    const { sql } = service.application.get(Database, { strict: false });
    const options = { effectMs: 0, freshMs: 0, debitMissingMs: 0, creditDays: {} as never };
    const id = await bills.expectedPaymentOf(barCode);
    const [payment] = await listPaymentFacts(sql, service.accountId, options, [id]);
    expect(payment?.bill).toMatchObject({ minimumCents: 5_000n, maximumCents: 9_000n });
  });

  it.each([
    ['a paid bill', { status: 'PAID' }, 80, 'bill_not_payable'],
    ['a blocked bill', { status: 'BLOCKED_PAYMENT' }, 80, 'bill_not_payable'],
    ['less than the charged amount', {}, 79.99, 'amount_out_of_range'],
    [
      'less than the allowed range',
      { isAllowPartialPayment: true, minimumPaymentAmount: 10, maximumPaymentAmount: 90 },
      9.99,
      'amount_out_of_range',
    ],
  ])('rejects %s and stores nothing', async (_, fields, amount, code) => {
    const { barCode } = await bills.newBill(fields);
    const before = await bills.countOperations();
    const { status, body } = await bills.pay({ amount, barCode });
    expect([status, body.code]).toEqual([422, code]);
    expect(await bills.countOperations()).toBe(before);
  });

  it('accepts for another day only the amount owed on that day', async () => {
    const fine = { type: 'FIXED', date: '2037-11-26', amount: 2 };
    const { barCode } = await bills.newBill({ amount: 50, dueDate: '2037-11-25', fine });
    const payAt = '2037-11-26T15:00:00Z';
    const before = await bills.countOperations();
    const refused = async (amount: number) => {
      const { status, body } = await bills.pay({ amount, barCode, payAt });
      expect([status, body.code]).toEqual([422, 'amount_out_of_range']);
    };
    await refused(9_999);
    await refused(52.01);
    expect(await bills.countOperations()).toBe(before);
    // The amount of the bank's own calculation is the bank's to refuse.
    await refused(50);
    expect((await bills.pay({ amount: 52, barCode, payAt })).body.status).toBe('SCHEDULED');
  });

  it('accepts an amount within the range of a bill that allows partial payment', async () => {
    const range = { isAllowPartialPayment: true, minimumPaymentAmount: 10 };
    const { barCode } = await bills.newBill({ ...range, maximumPaymentAmount: 90 });
    expect((await bills.pay({ amount: 12.34, barCode })).body.paidAmount).toBe(12.34);
  });

  it('rejects a payAt in the past, with its JSON path, and stores nothing', async () => {
    const { barCode } = await bills.newBill();
    const before = await bills.countOperations();
    const payAt = '2037-11-23T14:00:00Z';
    const { status, body } = await bills.pay({ amount: 80, barCode, payAt });
    const errors = { '$.payAt': [`payAt must not be in the past, got ${payAt}.`] };
    expect([status, body.errors]).toEqual([400, errors]);
    expect(await bills.countOperations()).toBe(before);
  });

  it('stores nothing when the bank does not return the bill', async () => {
    const { barCode } = await bills.newBill();
    const before = await bills.countOperations();
    const fault = { endpoint: 'bill-payments', kind: 'error-before-effect', method: 'GET' };
    await service.bank.call('POST', '/sandbox/faults', { body: { ...fault, times: 5 } });
    const refused = [];
    for (let payment = 0; payment < 6; payment += 1)
      refused.push(await bills.pay({ amount: 80, barCode }));
    expect(refused.map(({ status }) => status)).toEqual(Array<number>(6).fill(502));
    // The bank is not called again at once.
    expect(refused.map(({ headers }) => headers.get('Retry-After')).slice(-2)).toEqual([null, '1']);
    expect(await bills.countOperations()).toBe(before);
    await until(
      'it is paid',
      async () => (await bills.pay({ amount: 80, barCode })).status === 200,
    );
  });

  it('replays the response to a repeat after that payment has paid the bill', async () => {
    const { barCode } = await bills.newBill();
    const key = randomUUID();
    const first = await bills.pay({ amount: 80, barCode }, key);
    const repeat = await bills.pay({ amount: 80, barCode }, key);
    expect(repeat.text).toBe(first.text);
    expect(repeat.headers.get('Idempotent-Replayed')).toBe('true');
    const other = await bills.pay({ amount: 80, barCode });
    expect([other.status, other.body.code]).toEqual([422, 'bill_not_payable']);
    expect(other.headers.get('Location')).toBe(`/v1/operations/${(await bills.read(barCode)).id}`);
  });

  it('pays a bill once under twenty concurrent requests, by bar code and by digitable line', async () => {
    const { barCode, digitableLine } = await bills.newBill();
    await service.bank.warmUp();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        bills.pay({ amount: 80, ...(index % 2 ? { barCode } : { digitableLine }) }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(422)]);
    for (const { status, body } of responses)
      if (status === 422) expect(body.code).toMatch(/^bill_(already_scheduled|not_payable)$/);
    expect(await bills.paymentsAtBank(barCode)).toHaveLength(1);
  });

  it('frees the bill when the bank rejects the payment', async () => {
    const { barCode } = await bills.newBill({ amount: 900_000 });
    expect((await bills.pay({ amount: 900_000, barCode })).body.code).toBe('insufficient_funds');
    expect(await bills.read(barCode)).toMatchObject({ state: 'rejected', settlement: 'withdrawn' });
    expect((await bills.pay({ amount: 900_000, barCode })).body.code).toBe('insufficient_funds');
  });

  it('frees a fully reversed bill, which can be paid again', async () => {
    const { barCode } = await bills.newBill();
    const { body: paid } = await bills.pay({ amount: 80, barCode });
    const expected = await bills.expectedPaymentOf(barCode);
    await service.bank.call('POST', `/sandbox/bill-payments/${paid.id}/chargeback`);
    expect((await bills.pay({ amount: 80, barCode })).body.code).toBe('bill_not_payable');
    await service.sync();
    const { rows } = await service.pool.query(
      `SELECT nsu::int FROM statement_line WHERE movement_id = $1 ORDER BY nsu`,
      [paid.id],
    );
    await service.match(rows[0].nsu, expected);
    await service.match(rows[1].nsu, expected);
    expect(await bills.read(paid.id)).toMatchObject({
      state: 'paid',
      settlement: 'reversed',
      reversals: [{ nsu: rows[1].nsu, amount: 80 }],
    });
    expect((await bills.pay({ amount: 80, barCode })).body.status).toBe('PAID');
  });

  it('revives a payment recorded as not executed, although its bill has another payment', async () => {
    const { kind } = service.application.get(BillPaymentsService, { strict: false }) as unknown as {
      kind: OperationKind;
    };
    const { barCode } = await bills.newBill({ amount: 950_000 });
    await bills.pay({ amount: 950_000, barCode });
    const { id } = await bills.read(barCode);
    const operation = {
      accountId: service.accountId,
      id,
      createdAt: new Date(),
      requestBody: '{}',
    };
    const revive = () =>
      service.database.transaction((tx) =>
        kind.onSucceeded!(tx, operation as never, { response: null }),
      );
    await revive();
    await revive();
    expect((await bills.read(id)).state).toBe('paid');
    await service.pool.query(`UPDATE bill_payment SET state = 'rejected' WHERE id = $1`, [id]);
    const other = randomUUID();
    await addPayments(service.pool, service.accountId, [other]);
    await service.pool.query(
      `INSERT INTO bill_payment
         (account_id, id, bar_code, amount_cents, state, expected_payment_id)
       VALUES ($1, $3, $2, 1, 'paid', $3)`,
      [service.accountId, barCode, other],
    );
    await revive();
    const { rows } = await service.pool.query(
      `SELECT state, freed_at IS NULL AS "hasBill" FROM bill_payment
       WHERE bar_code = $1 ORDER BY amount_cents`,
      [barCode],
    );
    expect(rows).toEqual([
      { state: 'paid', hasBill: true },
      { state: 'paid', hasBill: false },
    ]);
  });
});
