// When what a person settled opens again.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BookOfBreaks, codeOf } from '../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

describe('what a person settled', () => {
  let service: ServiceOnSandbox;
  const book = new BookOfBreaks(() => service);
  const { act, get, sql, steps } = book;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  it('holds for the jump that was accepted, and for no other', async () => {
    await service.sync();
    const { nsu } = await book.unexpected();
    const shown = async (cents: number | null) => {
      const gap = `gap_nsu = $2, gap_balance_cents = $1, broken_since = now() + $1::bigint * interval '0'`;
      await sql(`UPDATE statement_state SET ${gap}`, cents, nsu);
      await book.reconcile();
      return (await service.call('GET', '/v1/breaks?kind=broken_balance_chain')).body.data[0];
    };
    const { id } = await shown(40);
    await act(id, 'accept');
    expect(await shown(40)).toMatchObject({ id, resolution: 'accept', amount: 0.4 });
    expect(await shown(-40)).toMatchObject({ id, state: 'open', amount: 0.4 });
    await act(id, 'accept');
    expect(await shown(500_000)).toMatchObject({ id, state: 'open', amount: 5_000 });
    expect(await steps(id)).toEqual([
      ...['opened', 'resolved', 'reopened', 'resolved', 'reopened'],
    ]);
    expect(await shown(null)).toMatchObject({ id, resolution: 'automatic' });
  });

  describe('of a refund', () => {
    const received = async (amount: number) => {
      const { body } = await service.bank.call('POST', '/sandbox/pix/received', {
        body: { amount },
      });
      await shown();
      const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${body.nsu}`)).body.data;
      return { nsu: body.nsu as number, id: id as string };
    };
    const shown = async () => {
      await service.sync();
      await book.reconcile();
    };

    it('opens it again when a part comes back, though another part stays away', async () => {
      const { nsu, id } = await received(10);
      await act(id, 'refund', { amount: 4 });
      await shown();
      const fault = { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 60_000 };
      await service.bank.call('POST', '/sandbox/faults', { body: fault });
      await act(id, 'refund', { amount: 6 });
      await shown();
      expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
      const now = new Date(Date.now() + 2 * 60_000).toISOString();
      await service.bank.call('POST', '/sandbox/clock', { body: { now } });
      await shown();
      expect(await get(id)).toMatchObject({ state: 'open' });
      expect(await book.explanation(nsu)).toMatchObject({ state: 'in_break' });
      await act(id, 'refund', { amount: 6 });
      await shown();
      expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    });

    it('is free again once a person gives up what the bank took and never debited', async () => {
      const { nsu, id } = await received(12);
      expect((await act(id, 'refund')).status).toBe(200);
      const refunds = async () =>
        (await service.call('GET', `/v1/refunds?originalNsu=${nsu}`)).body.data;
      const [first] = await refunds();
      const [{ expected }] = await sql(
        `SELECT expected_payment_id AS expected FROM refund WHERE id = $1`,
        first.id,
      );
      const fields = { expectedPaymentId: expected, amountCents: 1_200 };
      const missing = await book.break('missing', `expected_payment:${expected}`, fields);
      const underWay = [409, 'refund_under_way'];
      expect(codeOf(await act(id, 'accept'))).toEqual(underWay);
      await act(missing, 'accept');
      expect(await refunds()).toMatchObject([{ settlement: 'withdrawn' }]);
      await act(missing, 'reopen');
      expect(codeOf(await act(id, 'accept'))).toEqual(underWay);
      await act(missing, 'accept');
      expect((await act(id, 'accept')).status).toBe(200);
      await act(id, 'reopen');
      // Here the bank has debited it all the same: whoever gave it up is told.
      expect(codeOf(await act(id, 'refund'))).not.toEqual(underWay);
      expect(await refunds()).toHaveLength(2);
      await shown();
      const { body } = await service.call('GET', `/v1/breaks?kind=late_line`);
      expect(body.data).toMatchObject([{ state: 'open', amount: 12 }]);
    });
  });
});
