import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BankService } from '../../../src/bank/bank.service.js';
import { maxStatusChecks } from '../../../src/outbound/bill-payments/bill-payment-state.js';
import { recordStatementTask } from '../../../src/statement/reconciliation-tasks/reconciliation-tasks.queries.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { billsAt, noon } from '../../support/bills.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('scheduled bill payments', () => {
  let service: ServiceOnSandbox;
  let bills: ReturnType<typeof billsAt>;
  beforeAll(async () => {
    service = await serviceOnSandbox();
    bills = billsAt(service);
    setOnTime(false);
    await bills.setClock({ now: noon });
  });
  afterAll(async () => {
    await expectDeclaredEvents(service.pool, ['bill_payment.scheduled', 'bill_payment.failed']);
    await service.stop();
  });

  /** Whether the bank is known to pay exactly at the scheduled time. */
  const setOnTime = (paysBillsOnTime: boolean) => {
    const bank = service.application.get(BankService, { strict: false });
    Object.assign(bank, { profile: { ...bank.profile, paysBillsOnTime } });
  };

  const eventDataOf = async (type: string, id: string) =>
    (
      await service.pool.query(
        `SELECT data::json AS data FROM event
         WHERE type = $1 AND data::json ->> 'operationId' = $2`,
        [type, id],
      )
    ).rows.map(({ data }) => data);

  const decide = () =>
    service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId: service.accountId });

  it('record one event, block a second payment, and are paid when the statement shows the debit', async () => {
    const { barCode } = await bills.newBill({ dueDate: '2037-12-20' });
    const payAt = '2037-11-24T15:00:00Z';
    const { body } = await bills.pay({ amount: 80, barCode, payAt });
    expect(body.status).toBe('SCHEDULED');
    const { id } = await bills.read(barCode);
    expect(await bills.read(id)).toMatchObject({
      state: 'scheduled',
      scheduledFor: '2037-11-24T15:00:00.000Z',
      settlement: 'open',
    });
    const ids = { operationId: id, billPaymentId: id, barCode, bankId: body.id };
    expect(await eventDataOf('bill_payment.scheduled', id)).toEqual([
      { ...ids, amount: 80, scheduledFor: '2037-11-24T15:00:00.000Z' },
    ]);
    const second = await bills.pay({ amount: 80, barCode });
    expect([second.status, second.body.code]).toEqual([422, 'bill_already_scheduled']);
    await bills.checkStatus();
    expect((await bills.read(id)).state).toBe('scheduled');

    await bills.setClock({ now: '2037-11-24T15:01:00Z' });
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({ state: 'scheduled', bankStatus: 'PAID' });
    await decide();
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({ state: 'paid', settlement: 'settled' });
  });

  /** A scheduled payment whose time has passed at the bank without a debit. */
  const passUnpaid = async (payAt: string) => {
    const { barCode } = await bills.newBill({ amount: 150_000, dueDate: '2037-12-20' });
    const { body } = await bills.pay({ amount: 150_000, barCode, payAt });
    expect(body.status).toBe('SCHEDULED');
    const { id } = await bills.read(barCode);
    await bills.setClock({ now: new Date(Date.parse(payAt) + 60_000).toISOString() });
    return { id, barCode, bankId: body.id as string };
  };
  /** Stores a debit without references. */
  const storeDebit = async (nsu: number, occurredAt: string, isCredit = false) => {
    await service.pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, $2::bigint, 'x', $4, 15000000, 'DEBIT', 0, 0, $3, $2::text, '{}')`,
      [service.accountId, nsu, occurredAt, isCredit],
    );
  };
  const stateOf = async (id: string) => (await bills.read(id)).state;
  const breaksOf = async (id: string) =>
    (
      await service.pool.query(
        `SELECT kind, state, amount_cents::int AS "amountCents" FROM break WHERE subject = $1`,
        [`bill_payment:${id}`],
      )
    ).rows;

  it('fail once the statement is closed until the latest possible execution', async () => {
    const { id, barCode, bankId } = await passUnpaid('2037-11-25T15:00:00Z');
    await decide();
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({
      state: 'scheduled',
      bankStatus: 'PENDING_PAYMENT',
      settlement: 'open',
    });
    for (const [from, until] of [
      ['2037-11-01T00:00:00Z', '2037-11-25T23:00:00Z'],
      ['2037-11-25T14:59:30Z', '2037-11-28T00:00:00Z'],
      ['2037-11-01T00:00:00Z', '2037-11-27T03:00:09Z'],
    ] as const) {
      await bills.closePeriod(from, until);
      await bills.checkStatus();
      expect(await stateOf(id)).toBe('scheduled');
    }
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-11-27T03:00:10Z');
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({ state: 'failed', settlement: 'withdrawn' });
    const ids = { operationId: id, billPaymentId: id, barCode, bankId };
    expect(await eventDataOf('bill_payment.failed', id)).toEqual([
      { ...ids, amount: 150_000, scheduledFor: '2037-11-25T15:00:00.000Z' },
    ]);
    // The bill can be paid again: only the bank rejects the payment now.
    expect((await bills.pay({ amount: 150_000, barCode })).body.code).toBe('insufficient_funds');
  });

  it('fail soon after their scheduled time at a bank that is on time', async () => {
    setOnTime(true);
    const { id } = await passUnpaid('2037-11-27T15:00:00Z');
    setOnTime(false);
    await decide();
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-11-27T15:00:09Z');
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('scheduled');
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-11-27T15:00:10Z');
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('failed');
  });

  it('do not fail while a line of the period is undecided or could be their debit', async () => {
    const { id } = await passUnpaid('2037-11-30T15:00:00Z');
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-12-03T00:00:00Z');
    await decide();
    await storeDebit(9_001, '2037-12-01T15:00:00Z');
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('scheduled');
    await decide();
    await service.pool.query(
      `UPDATE line_outcome
       SET state = 'pending', version = version + 1, sequence = sequence + 1
       WHERE account_id = $1 AND nsu = 9001`,
      [service.accountId],
    );
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('scheduled');
    await service.pool.query(
      `UPDATE line_outcome
       SET state = 'in_break', version = version + 1, sequence = sequence + 1 WHERE nsu = 9001`,
    );
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('scheduled');
    await service.pool.query(
      `INSERT INTO unreadable_line (account_id, content_hash, kind, reason, content)
       VALUES ($1, 'h', 'unreadable', 'test', '{}')`,
      [service.accountId],
    );
    await service.database.transaction((tx) => recordStatementTask(tx, service.accountId));
    await decide();
    await service.pool.query(
      `INSERT INTO classification (account_id, nsu, rule) VALUES ($1, 9001, 'test')`,
      [service.accountId],
    );
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('scheduled');
    await service.pool.query(
      `UPDATE break SET state = 'resolved', resolved_at = now() WHERE kind = 'unreadable_line'`,
    );
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('failed');
  });

  it('fail despite classified or later lines, and have a break while a line is unexplained', async () => {
    const { id } = await passUnpaid('2037-12-02T15:00:00Z');
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-12-05T00:00:00Z');
    await storeDebit(9_002, '2037-12-03T15:00:00Z');
    await storeDebit(9_003, '2037-12-04T03:00:10Z');
    await decide();
    await bills.setClock({ now: '2037-12-05T02:59:00Z' });
    await bills.checkStatus();
    await decide();
    expect([await stateOf(id), await breaksOf(id)]).toEqual(['scheduled', []]);
    // The bank's `Date` header has whole seconds.
    await bills.setClock({ now: '2037-12-05T03:00:02Z' });
    await decide();
    const unknownOutcome = { kind: 'unknown_outcome', state: 'open', amountCents: 15_000_000 };
    expect(await breaksOf(id)).toEqual([unknownOutcome]);
    await service.pool.query(
      `INSERT INTO classification (account_id, nsu, rule) VALUES ($1, 9002, 'test')`,
      [service.accountId],
    );
    await bills.checkStatus();
    await decide();
    expect([await stateOf(id), await breaksOf(id)]).toEqual([
      'failed',
      [{ ...unknownOutcome, state: 'resolved' }],
    ]);
  });

  it('fail later when another payer has paid the bill', async () => {
    const { id, barCode } = await passUnpaid('2037-12-07T15:00:00Z');
    await decide();
    const credit = { account: '1000002', amount: 200_000 };
    await service.bank.call('POST', '/sandbox/pix/received', { body: credit });
    const { status } = await service.bank.call('POST', '/baas/api/v1/bill-payments', {
      apiKey: 'sandbox-dev-key-2',
      body: { amount: 150_000, barCode },
      headers: { IdempotencyKey: randomUUID() },
    });
    expect(status).toBe(200);
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-12-09T15:00:09Z');
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({ state: 'scheduled', bankStatus: 'PAID' });
    await bills.closePeriod('2037-11-01T00:00:00Z', '2037-12-09T15:00:10Z');
    await bills.checkStatus();
    expect(await stateOf(id)).toBe('failed');
  });

  describe('that failed', () => {
    const failPayment = async (day: string, until: string) => {
      const payment = await passUnpaid(`${day}T15:00:00Z`);
      await decide();
      await bills.closePeriod('2037-11-01T00:00:00Z', until);
      await bills.checkStatus();
      expect(await stateOf(payment.id)).toBe('failed');
      return payment;
    };

    it('are paid when their debit appears later', async () => {
      const { id, barCode } = await failPayment('2037-12-14', '2037-12-17T00:00:00Z');
      await storeDebit(9_010, '2037-12-18T15:00:00Z');
      await service.match(9_010, await bills.expectedPaymentOf(barCode));
      await bills.checkStatus();
      const { rows } = await service.pool.query(
        `SELECT p.state, p.freed_at AS "freedAt", e.withdrawn_at AS "withdrawnAt"
         FROM bill_payment p
         JOIN expected_payment e ON e.id = p.expected_payment_id WHERE p.id = $1`,
        [id],
      );
      expect(rows).toEqual([{ state: 'paid', freedAt: null, withdrawnAt: null }]);
      const again = await bills.pay({ amount: 150_000, barCode });
      expect(again.body.code).toBe('bill_not_payable');
    });

    it('are paid beside another payment of their bill, and open a break', async () => {
      const { id, barCode } = await failPayment('2037-12-21', '2037-12-24T00:00:00Z');
      await service.bank.call('POST', '/sandbox/pix/received', { body: { amount: 200_000 } });
      expect((await bills.pay({ amount: 150_000, barCode })).status).toBe(200);
      const other = (await bills.read(barCode)).id;
      await storeDebit(9_020, '2037-12-26T15:00:00Z');
      const { expected } = (
        await service.pool.query(
          `SELECT expected_payment_id AS expected FROM bill_payment WHERE id = $1`,
          [id],
        )
      ).rows[0];
      await service.match(9_020, expected);
      await bills.checkStatus();
      await decide();
      const { rows } = await service.pool.query(
        `SELECT state, freed_at IS NULL AS "hasBill" FROM bill_payment
         WHERE bar_code = $1 ORDER BY id`,
        [barCode],
      );
      expect(rows).toEqual([
        { state: 'paid', hasBill: false },
        { state: 'paid', hasBill: true },
      ]);
      const duplicatePayment = {
        kind: 'duplicate_payment',
        state: 'open',
        amountCents: 15_000_000,
      };
      expect([await breaksOf(id), await breaksOf(other)]).toEqual([[duplicatePayment], []]);

      await storeDebit(9_021, '2037-12-27T15:00:00Z', true);
      await service.match(9_021, expected);
      await decide();
      expect(await breaksOf(id)).toEqual([{ ...duplicatePayment, state: 'resolved' }]);
      await service.unlink(9_021, expected);
      await decide();
      expect(await breaksOf(id)).toEqual([duplicatePayment]);
    });
  });

  it('are asked about at the bank for a month, and then wait for the statement', async () => {
    const { id } = await passUnpaid('2038-01-11T15:00:00Z');
    const setChecks = (checks: number) =>
      service.pool.query(`UPDATE bill_payment SET checks = $2 WHERE id = $1`, [id, checks]);
    await setChecks(maxStatusChecks);
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({ state: 'scheduled', bankStatus: 'SCHEDULED' });
    await setChecks(maxStatusChecks - 1);
    await bills.checkStatus();
    expect(await bills.read(id)).toMatchObject({ bankStatus: 'PENDING_PAYMENT' });
  });
});
