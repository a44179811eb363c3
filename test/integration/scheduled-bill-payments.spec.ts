import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BankService } from '../../src/bank/bank.service.js';
import { ReconciliationService } from '../../src/reconciliation/reconciliation.service.js';
import { billsAt, noon } from '../support/bills.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

describe('scheduled payments of bills', () => {
  let service: ServiceOnSandbox;
  let bills: ReturnType<typeof billsAt>;
  beforeAll(async () => {
    service = await serviceOnSandbox();
    bills = billsAt(service);
    setOnTime(false);
    await bills.setClock({ now: noon });
  });
  afterAll(() => service.stop());

  /** Whether the bank is known to pay just when the time has come. */
  const setOnTime = (paysBillsOnTime: boolean) => {
    const bank = service.application.get(BankService, { strict: false });
    Object.assign(bank, { profile: { ...bank.profile, paysBillsOnTime } });
  };

  const events = async (type: string, id: string) =>
    (
      await service.pool.query(
        `SELECT data::json AS data FROM event WHERE type = $1 AND data::json ->> 'operationId' = $2`,
        [type, id],
      )
    ).rows.map(({ data }) => data);

  const decide = () =>
    service.application
      .get(ReconciliationService, { strict: false })
      .reconcile({ accountId: service.accountId });

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
    await decide();
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({ state: 'paid', settlement: 'settled' });
  });

  /** A scheduled payment whose time came and went at the bank without its money going. */
  const unpaid = async (payAt: string) => {
    const { barCode } = await bills.newBill({ amount: 150_000, dueDate: '2026-12-20' });
    const { body } = await bills.pay({ amount: 150_000, barCode, payAt });
    expect(body.status).toBe('SCHEDULED');
    const { id } = await bills.read(barCode);
    await bills.setClock({ now: new Date(Date.parse(payAt) + 60_000).toISOString() });
    return { id, barCode, bankId: body.id as string };
  };
  /** A debit that the mirror holds and that nothing names. */
  const debit = async (nsu: number, occurredAt: string) => {
    await service.pool.query(
      `INSERT INTO statement_line (account_id, nsu, bank_id, is_credit, amount_cents, type_name,
         balance_previous_cents, current_balance_cents, occurred_at, content_hash, content)
       VALUES ($1, $2::bigint, 'x', false, 15000000, 'DEBIT', 0, 0, $3, $2::text, '{}')`,
      [service.accountId, nsu, occurredAt],
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

  it('have failed when the statement is closed over all the time in which a bank may run late', async () => {
    const { id, barCode, bankId } = await unpaid('2026-11-25T15:00:00Z');
    await decide();
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({
      state: 'scheduled',
      bankStatus: 'PENDING_PAYMENT',
      settlement: 'open',
    });
    for (const [from, until] of [
      ['2026-11-01T00:00:00Z', '2026-11-25T23:00:00Z'],
      ['2026-11-25T14:59:30Z', '2026-11-28T00:00:00Z'],
      ['2026-11-01T00:00:00Z', '2026-11-27T03:00:09Z'],
    ] as const) {
      await bills.close(from, until);
      await bills.follow();
      expect(await stateOf(id)).toBe('scheduled');
    }
    await bills.close('2026-11-01T00:00:00Z', '2026-11-27T03:00:10Z');
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({ state: 'failed', settlement: 'withdrawn' });
    expect(await events('bill_payment.failed', id)).toEqual([
      { operationId: id, bankId, amount: 150_000, scheduledFor: '2026-11-25T15:00:00.000Z' },
    ]);
    // The bill is free again: the bank itself refuses it now.
    expect((await bills.pay({ amount: 150_000, barCode })).body.code).toBe('insufficient_funds');
  });

  it('have failed soon after their time at a bank that is on time', async () => {
    setOnTime(true);
    const { id } = await unpaid('2026-11-27T15:00:00Z');
    setOnTime(false);
    await decide();
    await bills.close('2026-11-01T00:00:00Z', '2026-11-27T15:00:09Z');
    await bills.follow();
    expect(await stateOf(id)).toBe('scheduled');
    await bills.close('2026-11-01T00:00:00Z', '2026-11-27T15:00:10Z');
    await bills.follow();
    expect(await stateOf(id)).toBe('failed');
  });

  it('have not failed while a line of that time was not judged, or could be theirs', async () => {
    const { id } = await unpaid('2026-11-30T15:00:00Z');
    await bills.close('2026-11-01T00:00:00Z', '2026-12-03T00:00:00Z');
    await decide();
    await debit(9_001, '2026-12-01T15:00:00Z');
    await bills.follow();
    expect(await stateOf(id)).toBe('scheduled');
    await decide();
    await service.pool.query(
      `INSERT INTO deferred_line (account_id, nsu) VALUES ($1, 9001) ON CONFLICT DO NOTHING`,
      [service.accountId],
    );
    await bills.follow();
    expect(await stateOf(id)).toBe('scheduled');
    await service.pool.query(`DELETE FROM deferred_line`);
    await bills.follow();
    expect(await stateOf(id)).toBe('scheduled');
    await service.pool.query(
      `INSERT INTO unreadable_line (account_id, content_hash, kind, reason, content)
       VALUES ($1, 'h', 'unreadable', 'test', '{}')`,
      [service.accountId],
    );
    await decide();
    await service.pool.query(
      `UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = 9001`,
    );
    await bills.follow();
    expect(await stateOf(id)).toBe('scheduled');
    await service.pool.query(
      `UPDATE break SET state = 'resolved', resolved_at = now() WHERE kind = 'unreadable_line'`,
    );
    await bills.follow();
    expect(await stateOf(id)).toBe('failed');
  });

  it('are not held up by what was classified, nor by what comes later; a person is told of the rest', async () => {
    const { id } = await unpaid('2026-12-02T15:00:00Z');
    await bills.close('2026-11-01T00:00:00Z', '2026-12-05T00:00:00Z');
    await debit(9_002, '2026-12-03T15:00:00Z');
    await debit(9_003, '2026-12-04T03:00:10Z');
    await decide();
    await bills.setClock({ now: '2026-12-05T02:59:00Z' });
    await bills.follow();
    await decide();
    expect([await stateOf(id), await breaksOf(id)]).toEqual(['scheduled', []]);
    await bills.setClock({ now: '2026-12-05T03:00:00Z' });
    await decide();
    await decide();
    const told = { kind: 'unknown_outcome', state: 'open', amountCents: 15_000_000 };
    expect(await breaksOf(id)).toEqual([told]);
    await service.pool.query(
      `INSERT INTO classification (account_id, nsu, rule) VALUES ($1, 9002, 'test')`,
      [service.accountId],
    );
    await bills.follow();
    await decide();
    expect([await stateOf(id), await breaksOf(id)]).toEqual([
      'failed',
      [{ ...told, state: 'resolved' }],
    ]);
  });

  it('take longer to have failed where another has paid their bill', async () => {
    const { id, barCode } = await unpaid('2026-12-07T15:00:00Z');
    await decide();
    const credit = { account: '1000002', amount: 200_000 };
    await service.bank.call('POST', '/sandbox/pix/received', { body: credit });
    const { status } = await service.bank.call('POST', '/baas/api/v1/bill-payments', {
      apiKey: 'sandbox-dev-key-2',
      body: { amount: 150_000, barCode },
      headers: { IdempotencyKey: randomUUID() },
    });
    expect(status).toBe(200);
    await bills.close('2026-11-01T00:00:00Z', '2026-12-09T15:00:09Z');
    await bills.follow();
    expect(await bills.read(id)).toMatchObject({ state: 'scheduled', bankStatus: 'PAID' });
    await bills.close('2026-11-01T00:00:00Z', '2026-12-09T15:00:10Z');
    await bills.follow();
    expect(await stateOf(id)).toBe('failed');
  });

  describe('that had failed', () => {
    const failed = async (day: string, until: string) => {
      const payment = await unpaid(`${day}T15:00:00Z`);
      await decide();
      await bills.close('2026-11-01T00:00:00Z', until);
      await bills.follow();
      expect(await stateOf(payment.id)).toBe('failed');
      return payment;
    };

    it('are paid when their money shows after all', async () => {
      const { id, barCode } = await failed('2026-12-14', '2026-12-17T00:00:00Z');
      await debit(9_010, '2026-12-18T15:00:00Z');
      await service.match(9_010, await bills.expectedOf(barCode));
      await bills.follow();
      const { rows } = await service.pool.query(
        `SELECT p.state, p.freed_at AS "freedAt", e.withdrawn_at AS "withdrawnAt" FROM bill_payment p
         JOIN expected_payment e ON e.id = p.expected_payment_id WHERE p.id = $1`,
        [id],
      );
      expect(rows).toEqual([{ state: 'paid', freedAt: null, withdrawnAt: null }]);
      const again = await bills.pay({ amount: 150_000, barCode });
      expect(again.body.code).toBe('bill_not_payable');
    });

    it('are paid beside another payment of their bill, and a person is told', async () => {
      const { id, barCode } = await failed('2026-12-21', '2026-12-24T00:00:00Z');
      await service.bank.call('POST', '/sandbox/pix/received', { body: { amount: 200_000 } });
      expect((await bills.pay({ amount: 150_000, barCode })).status).toBe(200);
      const other = (await bills.read(barCode)).id;
      await debit(9_020, '2026-12-26T15:00:00Z');
      const { expected } = (
        await service.pool.query(
          `SELECT expected_payment_id AS expected FROM bill_payment WHERE id = $1`,
          [id],
        )
      ).rows[0];
      await service.match(9_020, expected);
      await bills.follow();
      await decide();
      const { rows } = await service.pool.query(
        `SELECT state, freed_at IS NULL AS "holdsBill" FROM bill_payment WHERE bar_code = $1 ORDER BY id`,
        [barCode],
      );
      expect(rows).toEqual([
        { state: 'paid', holdsBill: false },
        { state: 'paid', holdsBill: true },
      ]);
      const told = { kind: 'duplicate_payment', state: 'open', amountCents: 15_000_000 };
      expect([await breaksOf(id), await breaksOf(other)]).toEqual([[told], []]);

      await debit(9_021, '2026-12-27T15:00:00Z');
      await service.match(9_021, expected, 'reversal');
      await decide();
      expect(await breaksOf(id)).toEqual([{ ...told, state: 'resolved' }]);
      await service.pool.query(`UPDATE match SET unlinked_at = now() WHERE nsu = 9021`);
      await decide();
      expect(await breaksOf(id)).toEqual([told]);
    });
  });
});
