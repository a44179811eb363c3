// Refunds of breaks, by a person and by a policy: each is made once, and only when requested.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { addReferences } from '../../../src/statement/expected-payments/recording.queries.js';
import { BreakRefunds } from '../../../src/reconciliation/breaks/break-refunds.service.js';
import { RefundPolicies } from '../../../src/reconciliation/breaks/refund-policies.service.js';
import { ReceivedPixFinder } from '../../../src/outbound/refunds/received-pix.service.js';
import { manualTransfer } from '../../contract/transfer-samples.js';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { adminKey } from '../../support/service-application.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('refunds of a break', () => {
  let service: ServiceOnSandbox;
  const fixture = new BreaksFixture(() => service);
  const { act, actions, get, sql } = fixture;
  const policies = () => service.application.get(RefundPolicies, { strict: false });
  const apply = () => policies().apply({ accountId: service.accountId });
  const changePolicy = (fields: object) =>
    service.call('PUT', '/v1/refund-policies', {
      body: {
        policies: [{ kind: 'duplicate_payment', isOn: true, ...fields }],
        reason: 'as agreed',
      },
    });
  const setLineOriginalId = (lineOriginalId: string) =>
    service.bank.call('PATCH', '/sandbox/modes', { body: { lineOriginalId } });
  const refundsOf = async (nsu: number) =>
    (await service.call('GET', `/v1/refunds?originalNsu=${nsu}`)).body.data;
  const receivePix = async (amount: number): Promise<number> => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', { body: { amount } });
    await service.sync();
    return body.nsu;
  };
  /** Syncs the statement, which shows the refunds made since, and reconciles. */
  const syncAndReconcile = async () => {
    await service.sync();
    await fixture.reconcile();
  };
  /** Receives a Pix that opens a break of this kind. `excess`: the amount of an overpaid one. */
  const receiveInBreak = async (
    kind: 'unexpected' | 'duplicate_payment' | 'overpaid' | 'underpaid',
    amount: number,
    excess = 0,
  ) => {
    const nsu = await receivePix(amount);
    const owedCents = Math.round((amount - excess) * 100);
    if (kind === 'unexpected') await fixture.reconcile();
    else await fixture.expectLine(nsu, owedCents, { isPaidBefore: kind === 'duplicate_payment' });
    const { body } = await service.call('GET', `/v1/breaks?nsu=${nsu}&state=open`);
    expect(body.data).toMatchObject([{ kind, state: 'open' }]);
    return { nsu, id: body.data[0].id as string };
  };
  /** The lines of the fixture break the chain, which a slow machine finds out. */
  const closePeriod = (span = '1 hour') =>
    sql(
      `UPDATE statement_state SET closed_from = now() - interval '1 day',
         closed_until = now() + $1::interval, first_gap_nsu = NULL, broken_since = NULL`,
      span,
    );

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  it('refunds once when requested repeatedly', async () => {
    const { nsu, id } = await receiveInBreak('duplicate_payment', 10);
    const responses = await Promise.all([act(id, 'refund'), act(id, 'refund')]);
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect((await act(id, 'refund')).status).toBe(200);
    expect(await refundsOf(nsu)).toMatchObject([{ amount: 10, state: 'accepted' }]);
    expect((await get(id)).state).toBe('open');
    await syncAndReconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect(await actions(id)).toEqual(['opened', 'refund', 'refund_under_way', 'resolved']);
  });

  it('refunds the excess, and never more than is left of the Pix', async () => {
    const { nsu, id } = await receiveInBreak('overpaid', 15, 5);
    expect((await act(id, 'refund')).status).toBe(200);
    expect(await refundsOf(nsu)).toMatchObject([{ amount: 5 }]);
    await syncAndReconcile();
    expect((await get(id)).state).toBe('resolved');
    const [{ id: expectedPaymentId }] = await sql(
      `SELECT expected_payment_id AS id FROM match WHERE nsu = $1 AND unlinked_at IS NULL`,
      nsu,
    );
    await fixture.addCancelledCharge(expectedPaymentId);
    await fixture.decideAll();
    const { body } = await service.call('GET', `/v1/breaks?nsu=${nsu}&state=open`);
    const [{ id: second, kind }] = body.data;
    expect(kind).toBe('paid_after_cancellation');
    expect(statusAndCode(await act(second, 'refund'))).toEqual([422, 'already_refunded']);
    expect(statusAndCode(await act(second, 'refund', { amount: 10.01 }))).toEqual([
      422,
      'refund_exceeds_original',
    ]);
    expect((await get(second)).state).toBe('open');
    expect((await act(second, 'refund', { amount: 10 })).status).toBe(200);
    await syncAndReconcile();
    expect((await get(second)).state).toBe('resolved');
  });

  it('keeps the break open after a partial refund, and refunds the rest as another operation', async () => {
    const { nsu, id } = await receiveInBreak('unexpected', 9);
    expect((await act(id, 'refund', { amount: 4 })).status).toBe(200);
    expect(statusAndCode(await act(id, 'refund', { amount: 5 }))).toEqual([
      409,
      'refund_under_way',
    ]);
    await syncAndReconcile();
    expect((await get(id)).state).toBe('open');
    expect((await act(id, 'refund', { amount: 5 })).status).toBe(200);
    await syncAndReconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect((await refundsOf(nsu)).map(({ amount }: { amount: number }) => amount).sort()).toEqual([
      4, 5,
    ]);
  });

  it('refuses to refund a line that is not a Pix, and a caller without the refund scope', async () => {
    const nsu = await fixture.addLine();
    await fixture.reconcile();
    const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${nsu}`)).body.data;
    expect(statusAndCode(await act(id, 'refund'))).toEqual([422, 'not_refundable']);
    const { body: key } = await service.call('POST', '/v1/accounts/main/keys', {
      body: { name: 'clerk', kind: 'api', scopes: ['read', 'reconcile'] },
      apiKey: 'concilia-dev-admin',
    });
    const { id: other } = await receiveInBreak('overpaid', 2, 1);
    expect((await act(other, 'refund', {}, key.key)).status).toBe(403);
    expect((await act(other, 'note', {}, key.key)).status).toBe(200);
    const put = {
      body: { policies: [{ kind: 'overpaid', isOn: true }], reason: 'why' },
      apiKey: key.key,
    };
    expect((await service.call('PUT', '/v1/refund-policies', put)).status).toBe(403);
  });

  it('refunds by a policy in a closed period only, and once when a person requests it too', async () => {
    const { nsu, id: before } = await receiveInBreak('duplicate_payment', 3);
    expect((await changePolicy({ maxAmount: 50 })).body).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({ kind: 'duplicate_payment', isOn: true, maxAmount: 50 }),
      ]),
      changes: [{ kind: 'duplicate_payment', actor: expect.any(String), reason: 'as agreed' }],
    });
    const [small, large, noted] = [
      await receiveInBreak('duplicate_payment', 7),
      await receiveInBreak('duplicate_payment', 50.01),
      await receiveInBreak('duplicate_payment', 4),
    ];
    await act(noted.id, 'note');
    await sql(`UPDATE statement_state SET closed_from = NULL, closed_until = NULL`);
    await apply();
    expect(await refundsOf(small.nsu)).toEqual([]);
    await closePeriod();
    await sql(`UPDATE statement_state SET broken_since = now()`);
    await apply();
    expect(await refundsOf(small.nsu)).toEqual([]);
    await sql(`UPDATE statement_state SET broken_since = NULL`);
    await Promise.all([apply(), act(small.id, 'refund'), apply()]);
    expect(await refundsOf(small.nsu)).toMatchObject([{ amount: 7 }]);
    await syncAndReconcile();
    expect(await get(small.id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    for (const { nsu: unrefunded, id } of [large, noted, { nsu, id: before }]) {
      expect(await refundsOf(unrefunded)).toEqual([]);
      expect((await get(id)).state).toBe('open');
    }
    expect((await changePolicy({ maxAmount: 50 })).body.changes).toHaveLength(1);
  });

  it('refunds nothing by a policy while a refund stands that nothing ties to a Pix', async () => {
    await changePolicy({ maxAmount: null });
    const { id } = await receiveInBreak('duplicate_payment', 8);
    const pix = { body: { amount: 5 } };
    const { body: other } = await service.bank.call('POST', '/sandbox/pix/received', pix);
    await setLineOriginalId('absent');
    const med = { body: { endToEndId: other.endToEndId } };
    const { body: refund } = await service.bank.call('POST', '/sandbox/pix/med', med);
    await setLineOriginalId('present');
    await syncAndReconcile();
    await closePeriod();
    await apply();
    expect(JSON.stringify(await get(id))).not.toContain('refund_refused');
    const { body } = await service.call('GET', `/v1/breaks?nsu=${refund.nsu}&state=open`);
    await act(body.data[0].id, 'accept');
    await closePeriod();
    await apply();
    expect(JSON.stringify(await get(id))).toContain('refund_refused');
  });

  it('makes no policy refund once a person acted on the break or the policy was switched off', async () => {
    await changePolicy({ maxAmount: null });
    const requestedBy = { source: 'policy', actor: null } as const;
    const request = { actor: 'policy', reason: 'as agreed', amountCents: null, requestedBy };
    const refunds = service.application.get(BreakRefunds, { strict: false });
    const [noted, linked, off, commented] = [
      await receiveInBreak('duplicate_payment', 11),
      await receiveInBreak('duplicate_payment', 12),
      await receiveInBreak('duplicate_payment', 13),
      await receiveInBreak('duplicate_payment', 14),
    ];
    await closePeriod();
    await act(noted.id, 'note');
    const comment = { body: { text: 'the payer wants us to wait' } };
    await service.call('POST', `/v1/breaks/${commented.id}/comments`, comment);
    await fixture.reconcile();
    const allocations = [{ expectedPaymentId: await fixture.addExpectedPayment(), amount: 12 }];
    const link = { nsu: linked.nsu, allocations, reason: 'as agreed' };
    await service.call('POST', '/v1/matches', { body: link });
    await sql(`UPDATE break SET state = 'open' WHERE id = $1`, linked.id);
    for (const { id } of [noted, linked, commented])
      await refunds.refund(service.accountId, id, request);
    await changePolicy({ isOn: false });
    await refunds.refund(service.accountId, off.id, request);
    for (const { nsu, id } of [noted, linked, off, commented]) {
      expect(await refundsOf(nsu)).toEqual([]);
      expect(await actions(id)).not.toContain('refund');
    }
  });

  describe('when something happens between the selection of a break and its refund', () => {
    /** Runs before the operation of the next refund is created. */
    const beforeCreation = (interleaved: () => Promise<unknown>) => {
      const finder = service.application.get(ReceivedPixFinder, { strict: false });
      const get = finder.get.bind(finder);
      const spy = jest.spyOn(finder, 'get').mockImplementationOnce(async (...of) => {
        await interleaved();
        return get(...of);
      });
      return () => {
        expect(spy).toHaveBeenCalled();
        spy.mockRestore();
      };
    };
    const expectNoRefund = async ({ nsu, id }: { nsu: number; id: string }) => {
      expect(await refundsOf(nsu)).toEqual([]);
      expect(await sql(`SELECT FROM refund WHERE original_nsu = $1`, nsu)).toEqual([]);
      expect(await actions(id)).not.toContain('refund');
    };
    /** A reference comes: the line pays something else. No job has decided the line again. */
    const referToLine = async (nsu: number, amountCents: number) => {
      const expectedPaymentId = await fixture.addExpectedPayment({ amountCents });
      const references = [{ kind: 'nsu' as const, value: String(nsu) }];
      await service.database.transaction((tx) =>
        addReferences(tx, service.accountId, [{ expectedPaymentId, references }]),
      );
    };
    type Subject = { nsu: number; id: string };

    it.each<[string, (of: Subject) => Promise<unknown>]>([
      ['a person accepts the break', ({ id }) => act(id, 'accept')],
      ['a person acts on the break', ({ id }) => act(id, 'note')],
      ['the policy is switched off', () => changePolicy({ isOn: false })],
      ['the policy gets a lower limit', () => changePolicy({ maxAmount: 5 })],
      ['a reference comes', ({ nsu }) => referToLine(nsu, 600)],
      ['a line comes that is not decided', () => fixture.addLine()],
      ['the balance chain breaks', () => sql(`UPDATE statement_state SET broken_since = now()`)],
      ['the period is read again', () => closePeriod('-1 hour')],
    ])('a policy creates no operation: %s', async (_, interleaved) => {
      await changePolicy({ isOn: true, maxAmount: null });
      const subject = await receiveInBreak('duplicate_payment', 6);
      await closePeriod();
      const expectReached = beforeCreation(() => interleaved(subject));
      await apply();
      expectReached();
      await expectNoRefund(subject);
      await changePolicy({ isOn: false });
    });

    it.each<[string, (of: Subject) => Promise<unknown>, string]>([
      ['accepts', ({ id }) => act(id, 'accept'), 'already_resolved'],
      [
        'links',
        async ({ id }) => {
          const expectedPaymentId = await fixture.addExpectedPayment({ amountCents: 600 });
          await act(id, 'link', { expectedPaymentId });
        },
        'already_resolved',
      ],
    ])('a person refunds nothing that another person %s', async (_, interleaved, code) => {
      const subject = await receiveInBreak('duplicate_payment', 6);
      const expectReached = beforeCreation(() => interleaved(subject));
      expect(statusAndCode(await act(subject.id, 'refund'))).toEqual([409, code]);
      expectReached();
      await expectNoRefund(subject);
      expect((await get(subject.id)).state).toBe('resolved');
    });

    it('a person refunds nothing when a reference comes', async () => {
      const subject = await receiveInBreak('duplicate_payment', 6);
      const expectReached = beforeCreation(() => referToLine(subject.nsu, 600));
      const { body } = await service.call('POST', '/v1/breaks/actions', {
        body: { ids: [subject.id], action: 'refund', reason: 'as agreed' },
      });
      expectReached();
      expect(body.data).toMatchObject([{ outcome: 'refused', code: 'already_resolved' }]);
      await expectNoRefund(subject);
    });

    it('two processes that do one bulk action refund once, and report the same', async () => {
      const subject = await receiveInBreak('duplicate_payment', 6);
      const request = () =>
        service.call('POST', '/v1/breaks/actions', {
          body: { ids: [subject.id], action: 'refund', reason: 'as agreed' },
          headers: { IdempotencyKey: 'bulk-refund' },
        });
      let second: Awaited<ReturnType<typeof request>> | undefined;
      const expectReached = beforeCreation(async () => {
        await sql(`UPDATE idempotency_record SET leased_until = now() - interval '1 second'`);
        second = await request();
        // The bank debits the refund before the first process goes on.
        await syncAndReconcile();
      });
      const first = await request();
      expectReached();
      expect(first.body).toMatchObject({ counts: { done: 1, unchanged: 0, refused: 0 } });
      expect(second?.body.counts).toEqual(first.body.counts);
      expect(await refundsOf(subject.nsu)).toMatchObject([{ amount: 6 }]);
    });

    it('a person refunds nothing when the amount of the break changes', async () => {
      const subject = await receiveInBreak('overpaid', 15, 5);
      const expectReached = beforeCreation(() =>
        sql(
          `UPDATE expected_payment e SET amount_cents = 1200 FROM match m
           WHERE m.nsu = $1 AND m.account_id = e.account_id AND m.expected_payment_id = e.id`,
          subject.nsu,
        ),
      );
      expect(statusAndCode(await act(subject.id, 'refund'))).toEqual([409, 'break_changed']);
      expectReached();
      await expectNoRefund(subject);
      await fixture.decideAll();
      expect((await act(subject.id, 'refund')).status).toBe(200);
      expect(await refundsOf(subject.nsu)).toMatchObject([{ amount: 3 }]);
    });
  });

  it('refunds by default only money that was received and that the break is about', async () => {
    const { id: less } = await receiveInBreak('underpaid', 20, -5);
    const nsu = await receivePix(20);
    const subject = `day:2026-01-01/${nsu}`;
    const late = await fixture.addBreak('late_line', subject, { nsu, amountCents: 2_000 });
    expect(statusAndCode(await act(less, 'refund'))).toEqual([422, 'not_refundable']);
    expect(statusAndCode(await act(late, 'refund', { amount: 1 }))).toEqual([
      422,
      'not_refundable',
    ]);
    expect((await act(less, 'refund', { amount: 20 })).status).toBe(200);
  });

  it.each([
    ['stopped', [503, 'account_stopped']],
    ['reconcile_only', [409, 'account_is_reconcile_only']],
  ])(
    'refunds nothing while the account is %s, and leaves no trace of the request',
    async (mode, refusal) => {
      const changeMode = (to: string) =>
        service.call('PUT', '/v1/accounts/main/mode', {
          body: { mode: to, actor: 'Ana', reason: 'test' },
          apiKey: adminKey,
        });
      await changePolicy({ maxAmount: null });
      const { nsu, id } = await receiveInBreak('duplicate_payment', 8);
      await closePeriod();
      await changeMode(mode);
      await apply();
      expect(statusAndCode(await act(id, 'refund'))).toEqual(refusal);
      expect([await refundsOf(nsu), await actions(id)]).toEqual([[], ['opened']]);
      await changeMode('live');
      await apply();
      expect(await refundsOf(nsu)).toMatchObject([{ amount: 8 }]);
    },
  );

  it('leaves the break to a person once a policy refund was refused', async () => {
    await changePolicy({ maxAmount: null });
    const { nsu, id } = await receiveInBreak('duplicate_payment', 6);
    const path = `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`;
    expect((await service.call('PUT', path, { body: { amount: 1 } })).status).toBe(200);
    await closePeriod();
    await apply();
    await apply();
    const { state, history } = await get(id);
    expect(state).toBe('open');
    expect(history.slice(1)).toMatchObject([
      { action: 'refund', actor: 'policy' },
      { action: 'refund_refused', detail: { reason: 'already_refunded' } },
    ]);
    expect(await refundsOf(nsu)).toHaveLength(1);
  });

  it('resolves the break by the statement alone, whenever the bank responds', async () => {
    const { nsu, id } = await receiveInBreak('duplicate_payment', 8);
    await act(id, 'refund');
    const [refund] = await refundsOf(nsu);
    await sql(
      `UPDATE operation SET state = 'unknown', ended_at = NULL,
         next_action_at = now() + interval '1 hour'
       WHERE id = $1`,
      refund.id,
    );
    expect((await act(id, 'refund')).body.state).toBe('open');
    await sql(
      `UPDATE operation SET state = 'succeeded', ended_at = now(), next_action_at = NULL
       WHERE id = $1`,
      refund.id,
    );
    await apply();
    expect((await get(id)).state).toBe('open');
    await syncAndReconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect(await refundsOf(nsu)).toHaveLength(1);
  });

  it('resends the same request under the same key where the bank deduplicates repeats', async () => {
    const sent = await service.call('POST', '/baas/api/v2/transfers', {
      body: manualTransfer({ amount: 3.21 }),
      headers: { IdempotencyKey: 'sent-again' },
    });
    expect(sent.status).toBe(200);
    const [{ id: operationId }] = await sql(
      `SELECT id FROM operation WHERE idempotency_key = 'sent-again'`,
    );
    const setNeedsOperator = (operation: string) =>
      sql(
        `UPDATE operation SET state = 'needs_operator', reason = 'no_response',
           response_status = NULL, response_body = NULL
         WHERE id = $1`,
        operation,
      );
    await setNeedsOperator(operationId);
    const id = await fixture.addBreak('unknown_outcome', `operation:${operationId}`, {
      operationId,
    });
    const { status, body } = await act(id, 'resend');
    expect([status, body.severity]).toEqual([200, 'high']);
    const { body: operation } = await service.call('GET', `/v1/operations/${operationId}`);
    expect(operation).toMatchObject({ state: 'succeeded', attempts: 2 });
    await service.sync();
    expect(
      await sql(`SELECT 1 FROM statement_line WHERE amount_cents = 321 AND NOT is_credit`),
    ).toHaveLength(1);
    await fixture.reconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'automatic' });
  });

  it('refuses to resend where the bank might execute the request twice', async () => {
    const { nsu, id } = await receiveInBreak('duplicate_payment', 9);
    await act(id, 'refund');
    await syncAndReconcile();
    const [{ id: operationId }] = await refundsOf(nsu);
    await sql(`UPDATE operation SET state = 'needs_operator' WHERE id = $1`, operationId);
    const unknown = await fixture.addBreak('unknown_outcome', `operation:${operationId}`, {
      operationId,
    });
    expect(statusAndCode(await act(unknown, 'resend'))).toEqual([409, 'not_safe_to_resend']);
    expect(statusAndCode(await act(id, 'resend'))).toEqual([409, 'already_resolved']);
    const other = await fixture.addBreak('unknown_outcome', `bill_payment:${operationId}`);
    expect(statusAndCode(await act(other, 'resend'))).toEqual([409, 'not_safe_to_resend']);
  });

  it('blocks other actions until the statement shows the refund, and reopens when it is reversed', async () => {
    const nsu = await receivePix(14);
    await fixture.reconcile();
    const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${nsu}`)).body.data;
    const expectedPaymentId = await fixture.addExpectedPayment({ amountCents: 1_400 });
    const fault = { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 60_000 };
    expect((await service.bank.call('POST', '/sandbox/faults', { body: fault })).status).toBe(200);
    const { body } = await act(id, 'refund');
    expect([body.state, body.history.at(-1).action]).toEqual(['open', 'refund_under_way']);
    const underWay = [409, 'refund_under_way'];
    expect(statusAndCode(await act(id, 'accept'))).toEqual(underWay);
    expect(statusAndCode(await act(id, 'link', { expectedPaymentId }))).toEqual(underWay);
    const link = { nsu, allocations: [{ expectedPaymentId, amount: 14 }], reason: 'as agreed' };
    expect(statusAndCode(await service.call('POST', '/v1/matches', { body: link }))).toEqual(
      underWay,
    );

    await syncAndReconcile();
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'refund' });
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'classified', rule: 'refund' });
    await fixture.expectReadingsAgree();

    const now = new Date(Date.now() + 2 * 60_000).toISOString();
    await service.bank.call('POST', '/sandbox/clock', { body: { now } });
    await syncAndReconcile();
    expect(await get(id)).toMatchObject({ state: 'open', resolution: null });
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
    await act(id, 'refund');
    await syncAndReconcile();
    expect(await refundsOf(nsu)).toHaveLength(2);
    expect((await get(id)).state).toBe('resolved');
    await act(id, 'reopen');
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
  });
});
