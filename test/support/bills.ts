// What the tests of bill payments do over and over, at the service and at its sandbox bank.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { BillPaymentLife } from '../../src/bill-payments/bill-payment-life.service.js';
import type { ServiceOnSandbox } from './service-on-sandbox.js';

export interface Bill {
  barCode: string;
  digitableLine: string;
}

/** Noon of a Monday in São Paulo: bills are paid at once. */
export const noon = '2026-11-23T15:00:00Z';

export function billsAt(service: ServiceOnSandbox) {
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
    service.call('POST', '/baas/api/v1/bill-payments', {
      body,
      // The rules of bills are what is looked at, not what looks like a duplicate while another is on its way.
      headers: { IdempotencyKey: key, 'Concilia-Allow-Duplicate': 'true' },
    });
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
    await service.application
      .get(BillPaymentLife, { strict: false })
      .follow({ accountId: service.accountId });
  };
  /** What two full readings of the statement would have proven. */
  const close = (from: string, until: string) =>
    service.pool.query(`UPDATE statement_state SET closed_from = $1, closed_until = $2`, [
      from,
      until,
    ]);

  return { setClock, newBill, pay, read, paidAtBank, operations, expectedOf, follow, close };
}
