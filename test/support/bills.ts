// Actions of the bill payment tests, at the service and at its sandbox bank.
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { BillPaymentLifecycle } from '../../src/outbound/bill-payments/bill-payment-lifecycle.service.js';
import type { ServiceOnSandbox } from './service-on-sandbox.js';

export interface BillCodes {
  barCode: string;
  digitableLine: string;
}

/**
 * Noon of a Monday in São Paulo: banks pay bills at once. It is far ahead, because the bank's clock
 * can only be moved forward.
 */
export const noon = '2037-11-23T15:00:00Z';

export function billsAt(service: ServiceOnSandbox) {
  /** Sets the bank's clock, and syncs so that the service measures its clock offset. */
  const setClock = async (change: object) => {
    const { status } = await service.bank.call('POST', '/sandbox/clock', { body: change });
    expect(status).toBe(200);
    await service.sync();
  };
  const newBill = async (fields: object = {}): Promise<BillCodes> =>
    (
      await service.bank.call('POST', '/sandbox/bills', {
        body: { type: 'BANKSLIP', status: 'PENDING_PAYMENT', amount: 80, ...fields },
      })
    ).body;
  const pay = (body: object, key: string = randomUUID()) =>
    service.call('POST', '/baas/api/v1/bill-payments', {
      body,
      // These tests are about the rules of bills. Possible duplicates have tests of their own.
      headers: { IdempotencyKey: key, 'Concilia-Allow-Duplicate': 'true' },
    });
  const read = async (id: string) => (await service.call('GET', `/v1/bill-payments/${id}`)).body;
  const paymentsAtBank = async (barCode: string): Promise<{ id: string; status: string }[]> => {
    const { body } = await service.bank.call('GET', '/sandbox/bill-payments');
    const payments = (body.data ?? body) as { id: string; barCode: string; status: string }[];
    return payments.filter((payment) => payment.barCode === barCode);
  };
  const countOperations = async () =>
    (await service.pool.query(`SELECT count(*)::int AS count FROM operation`)).rows[0].count;
  const expectedPaymentOf = async (barCode: string): Promise<string> =>
    (
      await service.pool.query(
        `SELECT expected_payment_id AS id FROM bill_payment
         WHERE bar_code = $1 ORDER BY id DESC LIMIT 1`,
        [barCode],
      )
    ).rows[0].id;
  const checkStatus = async () => {
    await service.pool.query(
      `UPDATE bill_payment SET next_check_at = now() WHERE next_check_at IS NOT NULL`,
    );
    await service.application
      .get(BillPaymentLifecycle, { strict: false })
      .check({ accountId: service.accountId });
  };
  /** Closes a period of the statement, as two full reads would have done. */
  const closePeriod = (from: string, until: string) =>
    service.pool.query(`UPDATE statement_state SET closed_from = $1, closed_until = $2`, [
      from,
      until,
    ]);

  return {
    setClock,
    newBill,
    pay,
    read,
    paymentsAtBank,
    countOperations,
    expectedPaymentOf,
    checkStatus,
    closePeriod,
  };
}
