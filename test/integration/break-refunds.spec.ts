// Money of breaks given back, by a person and by a policy: once, and only when it was said so.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BreakRefunds } from '../../src/reconciliation/breaks/break-refunds.service.js';
import { RefundPolicies } from '../../src/reconciliation/breaks/refund-policies.service.js';
import { manual } from '../contract/transfer-samples.js';
import { BookOfBreaks } from '../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

describe('the money of a break', () => {
  let service: ServiceOnSandbox;
  const book = new BookOfBreaks(() => service);
  const { act, get, sql } = book;
  const codeOf = ({ status, body }: { status: number; body: { code?: string } }) => [
    status,
    body.code,
  ];
  const policies = () => service.application.get(RefundPolicies, { strict: false });
  const apply = () => policies().apply({ accountId: service.accountId });
  const change = (fields: object) =>
    service.call('PUT', '/v1/refund-policies', {
      body: {
        policies: [{ kind: 'duplicate_payment', isOn: true, ...fields }],
        reason: 'as agreed',
      },
    });
  const refundsOf = async (nsu: number) =>
    (await service.call('GET', `/v1/refunds?originalNsu=${nsu}`)).body.data;
  const received = async (amount: number): Promise<number> => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount } });
    await service.sync();
    return body.nsu;
  };
  /** The statement shows what was done since. */
  const shown = async () => {
    await service.sync();
    await book.reconcile();
  };
  const steps = async (id: string) =>
    (await get(id)).trail.map(({ action }: { action: string }) => action);
  /** A Pix that stands in a break of this kind. */
  const broken = async (kind: string, amount: number, excess = amount) => {
    const nsu = await received(amount);
    const id = await book.break(kind, `nsu:${nsu}`, { nsu, amountCents: Math.round(excess * 100) });
    return { nsu, id };
  };
  const close = (span = '1 hour') =>
    sql(
      `UPDATE statement_state SET closed_from = now() - interval '1 day', closed_until = now() + $1::interval,
         first_gap_nsu = NULL`,
      span,
    );

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  it('goes back once, however often it is asked for', async () => {
    const { nsu, id } = await broken('duplicate_payment', 10);
    const answers = await Promise.all([act(id, 'refund'), act(id, 'refund')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect((await act(id, 'refund')).status).toBe(200);
    expect(await refundsOf(nsu)).toMatchObject([{ amount: 10, state: 'accepted' }]);
    expect((await get(id)).state).toBe('open');
    await shown();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect(await steps(id)).toEqual(['opened', 'refund', 'refund_under_way', 'resolved']);
  });

  it('is what was paid too much, and no more than is left', async () => {
    const { nsu, id } = await broken('overpaid', 15, 5);
    expect((await act(id, 'refund')).status).toBe(200);
    expect(await refundsOf(nsu)).toMatchObject([{ amount: 5 }]);
    const second = await book.break('paid_after_cancellation', `nsu:${nsu}`, { nsu, amountCents: 1_500 });
    expect(codeOf(await act(second, 'refund'))).toEqual([422, 'already_refunded']);
    expect(codeOf(await act(second, 'refund', { amount: 10.01 }))).toEqual([
      422,
      'refund_exceeds_original',
    ]);
    expect((await get(second)).state).toBe('open');
    expect((await act(second, 'refund', { amount: 10 })).status).toBe(200);
    await shown();
    expect((await get(second)).state).toBe('resolved');
  });

  it('leaves the break open while a part of it has not gone back, and gives the rest back under another key', async () => {
    const { nsu, id } = await broken('unexpected', 9);
    expect((await act(id, 'refund', { amount: 4 })).status).toBe(200);
    expect(codeOf(await act(id, 'refund', { amount: 5 }))).toEqual([409, 'refund_under_way']);
    await shown();
    expect((await get(id)).state).toBe('open');
    expect((await act(id, 'refund', { amount: 5 })).status).toBe(200);
    await shown();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect((await refundsOf(nsu)).map(({ amount }: { amount: number }) => amount).sort()).toEqual([
      4, 5,
    ]);
  });

  it('cannot go back where it is no Pix, or for whom may not refund', async () => {
    const nsu = await book.line();
    const id = await book.break('unexpected', `nsu:${nsu}`, { nsu, amountCents: 1_000 });
    expect(codeOf(await act(id, 'refund'))).toEqual([422, 'not_refundable']);
    const { body: key } = await service.call('POST', '/v1/accounts/main/keys', {
      body: { name: 'clerk', kind: 'api', scopes: ['read', 'reconcile'] },
      apiKey: 'concilia-dev-admin',
    });
    const { id: other } = await broken('overpaid', 2);
    expect((await act(other, 'refund', {}, key.key)).status).toBe(403);
    expect((await act(other, 'note', {}, key.key)).status).toBe(200);
    const put = {
      body: { policies: [{ kind: 'overpaid', isOn: true }], reason: 'why' },
      apiKey: key.key,
    };
    expect((await service.call('PUT', '/v1/refund-policies', put)).status).toBe(403);
  });

  it('goes back by a policy, from a closed window, and not twice with a person’s hand', async () => {
    const { nsu, id: before } = await broken('duplicate_payment', 3);
    expect((await change({ maxAmount: 50 })).body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ kind: 'duplicate_payment', isOn: true, maxAmount: 50 }),
      ]),
      changes: [{ kind: 'duplicate_payment', actor: expect.any(String), reason: 'as agreed' }],
    });
    const [small, large, noted] = [
      await broken('duplicate_payment', 7),
      await broken('duplicate_payment', 50.01),
      await broken('duplicate_payment', 4),
    ];
    await act(noted.id, 'note');
    await sql(`UPDATE statement_state SET closed_from = NULL, closed_until = NULL`);
    await apply();
    expect(await refundsOf(small.nsu)).toEqual([]);
    await close();
    await sql(`UPDATE statement_state SET broken_since = now()`);
    await apply();
    expect(await refundsOf(small.nsu)).toEqual([]);
    await sql(`UPDATE statement_state SET broken_since = NULL`);
    await Promise.all([apply(), act(small.id, 'refund'), apply()]);
    expect(await refundsOf(small.nsu)).toMatchObject([{ amount: 7 }]);
    await shown();
    expect(await get(small.id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    for (const { nsu: left, id } of [large, noted, { nsu, id: before }]) {
      expect(await refundsOf(left)).toEqual([]);
      expect((await get(id)).state).toBe('open');
    }
    expect((await change({ maxAmount: 50 })).body.changes).toHaveLength(1);
  });

  it('stays where a person acted, or the policy was switched off, while it was on its way', async () => {
    await change({ maxAmount: null });
    const asked = { actor: 'policy', reason: 'as agreed', amountCents: null };
    const refunds = service.application.get(BreakRefunds, { strict: false });
    const [noted, linked, off] = [
      await broken('duplicate_payment', 11),
      await broken('duplicate_payment', 12),
      await broken('duplicate_payment', 13),
    ];
    await close();
    await act(noted.id, 'note');
    await book.reconcile();
    const allocations = [{ expectedPaymentId: await book.expected(), amount: 12 }];
    const link = { nsu: linked.nsu, allocations, reason: 'as agreed' };
    await service.call('POST', '/v1/matches', { body: link });
    await sql(`UPDATE break SET state = 'open' WHERE id = $1`, linked.id);
    for (const { id } of [noted, linked]) await refunds.refund(service.accountId, id, asked);
    await change({ isOn: false });
    await refunds.refund(service.accountId, off.id, asked);
    for (const { nsu, id } of [noted, linked, off]) {
      expect(await refundsOf(nsu)).toEqual([]);
      expect(await steps(id)).not.toContain('refund');
    }
  });

  it('is nothing that did not come, or that a break is not about', async () => {
    const { id: less } = await broken('underpaid', 20, 5);
    const { id: late } = await broken('late_line', 20);
    expect(codeOf(await act(less, 'refund'))).toEqual([422, 'not_refundable']);
    expect(codeOf(await act(late, 'refund', { amount: 1 }))).toEqual([422, 'not_refundable']);
    expect((await act(less, 'refund', { amount: 20 })).status).toBe(200);
  });

  it('stays a person’s once a policy was refused', async () => {
    await change({ maxAmount: null });
    const { nsu, id } = await broken('duplicate_payment', 6);
    const path = `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`;
    expect((await service.call('PUT', path, { body: { amount: 1 } })).status).toBe(200);
    await close();
    await apply();
    await apply();
    const { state, trail } = await get(id);
    expect(state).toBe('open');
    expect(trail.slice(1)).toMatchObject([
      { action: 'refund', actor: 'policy' },
      { action: 'refund_refused', detail: { reason: 'already_refunded' } },
    ]);
    expect(await refundsOf(nsu)).toHaveLength(1);
  });

  it('settles the break by the statement alone, whenever the bank’s answer came', async () => {
    const { nsu, id } = await broken('duplicate_payment', 8);
    await act(id, 'refund');
    const [made] = await refundsOf(nsu);
    await sql(
      `UPDATE operation SET state = 'unknown', ended_at = NULL, next_action_at = now() + interval '1 hour'
               WHERE id = $1`,
      made.id,
    );
    expect((await act(id, 'refund')).body.state).toBe('open');
    await sql(
      `UPDATE operation SET state = 'succeeded', ended_at = now(), next_action_at = NULL WHERE id = $1`,
      made.id,
    );
    await apply();
    expect((await get(id)).state).toBe('open');
    await shown();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect(await refundsOf(nsu)).toHaveLength(1);
  });

  it('is sent again, the same under the same key, where the bank takes a repeat for the first', async () => {
    const sent = await service.call('POST', '/baas/api/v2/transfers', {
      body: manual({ amount: 3.21 }),
      headers: { IdempotencyKey: 'sent-again' },
    });
    expect(sent.status).toBe(200);
    const [{ id: operationId }] = await sql(
      `SELECT id FROM operation WHERE idempotency_key = 'sent-again'`,
    );
    const forget = (operation: string) =>
      sql(
        `UPDATE operation SET state = 'needs_operator', reason = 'no_response', response_status = NULL,
           response_body = NULL WHERE id = $1`,
        operation,
      );
    await forget(operationId);
    const id = await book.break('unknown_outcome', `operation:${operationId}`);
    const { status, body } = await act(id, 'resend');
    expect([status, body.severity]).toEqual([200, 'high']);
    const { body: operation } = await service.call('GET', `/v1/operations/${operationId}`);
    expect(operation).toMatchObject({ state: 'succeeded', attempts: 2 });
    await service.sync();
    expect(
      await sql(`SELECT 1 FROM statement_line WHERE amount_cents = 321 AND NOT is_credit`),
    ).toHaveLength(1);
    await book.reconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'automatic' });
  });

  it('is not sent again where that might be one more', async () => {
    const { nsu, id } = await broken('duplicate_payment', 9);
    await act(id, 'refund');
    await shown();
    const [{ id: operationId }] = await refundsOf(nsu);
    await sql(`UPDATE operation SET state = 'needs_operator' WHERE id = $1`, operationId);
    const unknown = await book.break('unknown_outcome', `operation:${operationId}`);
    expect(codeOf(await act(unknown, 'resend'))).toEqual([409, 'not_safe_to_resend']);
    expect(codeOf(await act(id, 'resend'))).toEqual([409, 'already_resolved']);
    const other = await book.break('unknown_outcome', `bill_payment:${operationId}`);
    expect(codeOf(await act(other, 'resend'))).toEqual([409, 'not_safe_to_resend']);
  });

  it('is on its way until the statement shows it, and asked about again when it comes back', async () => {
    const nsu = await received(14);
    await book.reconcile();
    const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${nsu}`)).body.data;
    const expectedPaymentId = await book.expected({ amountCents: 1_400 });
    const fault = { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 60_000 };
    expect((await service.bank.call('POST', '/sandbox/faults', { body: fault })).status).toBe(200);
    const { body } = await act(id, 'refund');
    expect([body.state, body.trail.at(-1).action]).toEqual(['open', 'refund_under_way']);
    const underWay = [409, 'refund_under_way'];
    expect(codeOf(await act(id, 'accept'))).toEqual(underWay);
    expect(codeOf(await act(id, 'link', { expectedPaymentId }))).toEqual(underWay);
    const link = { nsu, allocations: [{ expectedPaymentId, amount: 14 }], reason: 'as agreed' };
    expect(codeOf(await service.call('POST', '/v1/matches', { body: link }))).toEqual(underWay);

    await shown();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect(await book.explanation(nsu)).toMatchObject({ state: 'classified', rule: 'refund' });
    await book.readingsAgree();

    const now = new Date(Date.now() + 2 * 60_000).toISOString();
    await service.bank.call('POST', '/sandbox/clock', { body: { now } });
    await shown();
    expect(await get(id)).toMatchObject({ state: 'open', resolution: null });
    expect(await book.explanation(nsu)).toMatchObject({ state: 'in_break' });
    await act(id, 'refund');
    await shown();
    expect(await refundsOf(nsu)).toHaveLength(2);
    expect((await get(id)).state).toBe('resolved');
    await act(id, 'reopen');
    expect(await book.explanation(nsu)).toMatchObject({ state: 'in_break' });
  });
});
