// When a break that a person resolved is reopened.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('a break that a person resolved', () => {
  let service: ServiceOnSandbox;
  const fixture = new BreaksFixture(() => service);
  const { act, get, sql, actions } = fixture;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  it('stays resolved for the accepted balance jump only', async () => {
    await service.sync();
    const { nsu } = await fixture.addUnexpectedLine();
    const setGap = async (cents: number | null) => {
      await sql(
        `UPDATE statement_state SET gap_nsu = $2, gap_balance_cents = $1, gap_since = now(),
           broken_since = now() + $1::bigint * interval '0'`,
        cents,
        nsu,
      );
      await sql(
        `INSERT INTO reconciliation_task (account_id, kind)
         SELECT account_id, 'statement' FROM statement_state`,
      );
      await fixture.reconcile();
      return (await service.call('GET', '/v1/breaks?kind=broken_balance_chain')).body.data[0];
    };
    const { id } = await setGap(40);
    await act(id, 'accept');
    expect(await setGap(40)).toMatchObject({ id, resolution: 'accept', amount: 0.4 });
    expect(await setGap(-40)).toMatchObject({ id, state: 'open', amount: 0.4 });
    await act(id, 'accept');
    expect(await setGap(500_000)).toMatchObject({ id, state: 'open', amount: 5_000 });
    expect(await actions(id)).toEqual([
      ...['opened', 'accept', 'resolved', 'reopened', 'accept', 'resolved', 'reopened'],
    ]);
    expect(await setGap(null)).toMatchObject({ id, resolution: 'automatic' });
  });

  describe('by a refund', () => {
    const receivePix = async (amount: number) => {
      const { body } = await service.bank.call('POST', '/sandbox/pix/received', {
        body: { amount },
      });
      await syncAndReconcile();
      const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${body.nsu}`)).body.data;
      return { nsu: body.nsu as number, id: id as string };
    };
    const syncAndReconcile = async () => {
      await service.sync();
      await fixture.reconcile();
    };

    it('is reopened when one of two partial refunds is reversed', async () => {
      const { nsu, id } = await receivePix(10);
      await act(id, 'refund', { amount: 4 });
      await syncAndReconcile();
      const fault = { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 60_000 };
      await service.bank.call('POST', '/sandbox/faults', { body: fault });
      await act(id, 'refund', { amount: 6 });
      await syncAndReconcile();
      expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
      const now = new Date(Date.now() + 2 * 60_000).toISOString();
      await service.bank.call('POST', '/sandbox/clock', { body: { now } });
      await syncAndReconcile();
      expect(await get(id)).toMatchObject({ state: 'open' });
      expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
      await act(id, 'refund', { amount: 6 });
      await syncAndReconcile();
      expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    });

    it('can be resolved otherwise once a person accepts the refund as missing', async () => {
      const { nsu, id } = await receivePix(12);
      expect((await act(id, 'refund')).status).toBe(200);
      const refunds = async () =>
        (await service.call('GET', `/v1/refunds?originalNsu=${nsu}`)).body.data;
      const [first] = await refunds();
      const [{ expectedPaymentId }] = await sql(
        `SELECT expected_payment_id AS "expectedPaymentId" FROM refund WHERE id = $1`,
        first.id,
      );
      const missing = await fixture.letDeadlinePass(expectedPaymentId);
      const underWay = [409, 'refund_under_way'];
      expect(statusAndCode(await act(id, 'accept'))).toEqual(underWay);
      await act(missing, 'accept');
      expect(await refunds()).toMatchObject([{ settlement: 'withdrawn' }]);
      await act(missing, 'reopen');
      expect(statusAndCode(await act(id, 'accept'))).toEqual(underWay);
      await act(missing, 'accept');
      expect((await act(id, 'accept')).status).toBe(200);
      await act(id, 'reopen');
      // The bank debits the refund after all: a late_line break reports it.
      expect(statusAndCode(await act(id, 'refund'))).not.toEqual(underWay);
      expect(await refunds()).toHaveLength(2);
      await syncAndReconcile();
      const { body } = await service.call('GET', `/v1/breaks?kind=late_line`);
      expect(body.data).toMatchObject([{ state: 'open', amount: 12 }]);
    });
  });
});
