// Actions of a person on breaks through the API, and what breaks and lines show afterwards.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { BreakActions } from '../../../src/reconciliation/breaks/break-actions.service.js';
import { resolveEndedStatementBreaks } from '../../../src/reconciliation/apply/break-writer.queries.js';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { until } from '../../support/until.js';

describe('actions on a break', () => {
  let service: ServiceOnSandbox;
  const fixture = new BreaksFixture(() => service);
  const { act, get, sql, actions, liveMatches } = fixture;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  it('links a line to one expected payment, publishes its event and records the action', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    const expectedPaymentId = await fixture.addExpectedPayment({ isWithdrawn: true });
    await sql(
      `INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type,
         amount_cents)
       VALUES ($1, 'manual-1', $2, $2, 'BANKSLIP', 1000)`,
      service.accountId,
      expectedPaymentId,
    );
    const { status, body } = await act(id, 'link', { expectedPaymentId });
    expect([status, body.state, body.resolution]).toEqual([200, 'resolved', 'link']);
    expect(await actions(id)).toEqual(['opened', 'link', 'resolved']);
    expect(body.history.at(-1)).toMatchObject({ reason: 'as agreed', actor: expect.any(String) });
    expect(await liveMatches(nsu)).toEqual([{ rule: 'manual', manually: true, cents: 1_000 }]);
    expect(
      await sql(`SELECT withdrawn_at FROM expected_payment WHERE id = $1`, expectedPaymentId),
    ).toEqual([{ withdrawn_at: null }]);
    const eventsSql = `SELECT type FROM event WHERE data LIKE '%manual-1%'`;
    expect(await sql(eventsSql)).toEqual([{ type: 'charge.paid' }]);
  });

  it('links a line to several expected payments only when the amounts add up to the line', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    const [one, other, debit] = [
      await fixture.addExpectedPayment({ amountCents: 400 }),
      await fixture.addExpectedPayment({ amountCents: 600 }),
      await fixture.addExpectedPayment({ isCredit: false }),
    ];
    const allocate = (first: number, second: number) =>
      act(id, 'link', {
        allocations: [
          { expectedPaymentId: one, amount: first },
          { expectedPaymentId: other, amount: second },
        ],
      });
    expect(statusAndCode(await allocate(4, 5.99))).toEqual([422, 'allocations_differ']);
    expect(statusAndCode(await act(id, 'link', { expectedPaymentId: debit }))).toEqual([
      422,
      'direction_differs',
    ]);
    expect((await act(id, 'link', { expectedPaymentId: randomUUID() })).status).toBe(404);
    expect(await liveMatches(nsu)).toEqual([]);
    expect((await allocate(4, 6)).status).toBe(200);
    expect(await liveMatches(nsu)).toEqual([
      { rule: 'manual', manually: true, cents: 400 },
      { rule: 'manual', manually: true, cents: 600 },
    ]);
  });

  it('accepts only one of two concurrent links of a line', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    const both = [await fixture.addExpectedPayment(), await fixture.addExpectedPayment()];
    const responses = await Promise.all(
      both.map((expectedPaymentId) => act(id, 'link', { expectedPaymentId })),
    );
    expect(responses.map(statusAndCode).sort()).toEqual([
      [200, undefined],
      [409, 'already_resolved'],
    ]);
    expect(await liveMatches(nsu)).toHaveLength(1);
  });

  it('resolves the break of a gap once when two transactions do so at the same time', async () => {
    const id = await fixture.addBreak('broken_balance_chain', 'gap:1');
    const holder = await service.pool.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT FROM break WHERE id = $1 FOR UPDATE`, [id]);
    const both = [1, 2].map(() =>
      service.database.transaction((tx) => resolveEndedStatementBreaks(tx, service.accountId)),
    );
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until('both wait', async () => (await sql(waiting)).length === 2);
    await holder.query('COMMIT');
    holder.release();
    expect((await Promise.all(both)).flat()).toMatchObject([{ id }]);
  });

  it('links a missing payment to its line and resolves the break of the line too', async () => {
    await service.sync();
    const { nsu, id: lineBreakId } = await fixture.addUnexpectedLine();
    const expectedPaymentId = await fixture.addExpectedPayment();
    const id = await fixture.letDeadlinePass(expectedPaymentId);
    expect((await act(id, 'link', { nsu })).body).toMatchObject({
      state: 'resolved',
      resolution: 'link',
    });
    expect(await get(lineBreakId)).toMatchObject({ state: 'resolved', resolution: 'link' });
    await act(id, 'reopen');
    expect(await get(id)).toMatchObject({ state: 'open', resolution: null });
    expect(await liveMatches(nsu)).toEqual([]);
    await fixture.reconcile();
    expect(await get(lineBreakId)).toMatchObject({ state: 'open' });
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
  });

  it('reopens no break of an operation whose outcome is known by now', async () => {
    const operationId = randomUUID();
    await sql(
      `WITH made AS (
         INSERT INTO operation (account_id, id, kind, state, request_hash, request_params,
           ended_at)
         VALUES ($1, $2, 'create_customer', 'needs_operator', 'h', '{}', now())
       )
       INSERT INTO reconciliation_task (account_id, kind, operation_id)
       VALUES ($1, 'operation', $2)`,
      service.accountId,
      operationId,
    );
    await fixture.reconcile();
    const [{ id }] = await sql(`SELECT id FROM break WHERE operation_id = $1`, operationId);
    expect((await act(id, 'accept')).body).toMatchObject({ state: 'resolved' });
    await act(id, 'reopen');
    expect(await get(id)).toMatchObject({ state: 'open' });
    await act(id, 'accept');
    await sql(`UPDATE operation SET state = 'succeeded' WHERE id = $1`, operationId);
    expect(statusAndCode(await act(id, 'reopen'))).toEqual([409, 'nothing_to_reopen']);
  });

  it('shows the rule and the expected payments of a matched line that is in a break', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    expect(await fixture.explanation(nsu)).toMatchObject({
      ...{ state: 'in_break', rule: 'unexpected', breakKind: 'unexpected' },
      breakEvidence: { candidates: [] },
    });
    const expectedPaymentId = await fixture.addExpectedPayment({ amountCents: 600 });
    await act(id, 'link', { expectedPaymentId });
    expect(await fixture.explanation(nsu)).toMatchObject({
      ...{ state: 'in_break', rule: 'manual', breakKind: 'overpaid', breakEvidence: {} },
      expectedPaymentIds: [expectedPaymentId],
    });
  });

  it('accepts an unexpected line, and undoes that when the break is reopened', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    expect((await act(id, 'accept')).body).toMatchObject({
      state: 'resolved',
      resolution: 'accept',
    });
    expect(
      await sql(`SELECT rule, category, reason FROM classification WHERE nsu = $1`, nsu),
    ).toEqual([{ rule: 'manual', category: 'accepted', reason: 'as agreed' }]);
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'classified', rule: 'manual' });
    expect(statusAndCode(await act(id, 'accept'))).toEqual([409, 'already_resolved']);
    await fixture.reconcile();
    const other = await fixture.addBreak('unreadable_line', `line:${nsu}`, { nsu });
    await act(other, 'accept');
    await act(other, 'reopen');
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'classified', rule: 'manual' });
    expect((await act(id, 'reopen')).body.state).toBe('open');
    expect(await sql(`SELECT 1 FROM classification WHERE nsu = $1`, nsu)).toEqual([]);
    expect(statusAndCode(await act(id, 'reopen'))).toEqual([409, 'already_open']);
    await act(id, 'note', { reason: 'asked the payer' });
    expect(await actions(id)).toEqual([
      'opened',
      'accept',
      'resolved',
      'reopen',
      'reopened',
      'note',
    ]);
  });

  it('refuses to reopen an automatically resolved break, and keeps its history append-only', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    await sql(`UPDATE break SET amount_cents = 700 WHERE nsu = $1`, nsu);
    const revised = { action: 'revised', detail: { fromCents: '1000', toCents: '700' } };
    expect((await get(id)).history.at(-1)).toMatchObject(revised);
    await sql(`UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $1`, nsu);
    expect(statusAndCode(await act(id, 'reopen'))).toEqual([409, 'resolved_automatically']);
    await expect(
      sql(`UPDATE break_history_entry SET reason = 'x' WHERE break_id = $1`, id),
    ).rejects.toThrow(/append-only/);
    await expect(sql(`DELETE FROM break_history_entry WHERE break_id = $1`, id)).rejects.toThrow(
      /append-only/,
    );
  });

  it('acts on many breaks, reports each, and changes nothing when repeated', async () => {
    const added = [await fixture.addUnexpectedLine(), await fixture.addUnexpectedLine()];
    const repeatedId = added[0]?.id.toUpperCase();
    const ids = [...added.map(({ id }) => id), repeatedId, randomUUID()];
    const bulk = async (body: object) =>
      (await service.call('POST', '/v1/breaks/actions', { body: { reason: 'as agreed', ...body } }))
        .body;
    expect(await bulk({ ids, action: 'accept' })).toMatchObject({
      counts: { done: 2, unchanged: 0, refused: 1 },
      data: [{ outcome: 'done', state: 'resolved' }, { outcome: 'done' }, { code: 'not_found' }],
    });
    expect((await bulk({ ids, action: 'accept' })).counts).toEqual({
      done: 0,
      unchanged: 2,
      refused: 1,
    });
    const { id } = await fixture.addUnexpectedLine({ amountCents: 7 });
    await fixture.addUnexpectedLine({ amountCents: 8 });
    const filter = { kind: 'unexpected', maxAmount: 0.07 };
    expect((await bulk({ filter, action: 'accept' })).data).toMatchObject([
      { id, outcome: 'done' },
    ]);
  });

  it.each([
    ['accept', ['opened', 'accept', 'resolved']],
    ['note', ['opened', 'note']],
  ])('acts once on each break when two processes do the bulk action: %s', async (...of) => {
    const [action, expected] = of;
    // Another amount for each action, so that the filter selects the breaks of this test alone.
    const amountCents = action === 'accept' ? 1 : 2;
    const ids: string[] = [];
    while (ids.length < 5) ids.push((await fixture.addUnexpectedLine({ amountCents })).id);
    const body = {
      ...{ action, reason: 'as agreed' },
      filter: { kind: 'unexpected', maxAmount: amountCents / 100 },
    };
    const headers = { IdempotencyKey: `bulk-${action}` };
    const request = () => service.call('POST', '/v1/breaks/actions', { body, headers });
    // The first process is suspended when it has selected the breaks and acted on two of them.
    const breakActions = service.application.get(BreakActions, { strict: false });
    const actOn = breakActions.act.bind(breakActions);
    let resume: () => void = () => undefined;
    const suspended = new Promise<void>((resolve) => (resume = resolve));
    let begun = 0;
    const spy = jest.spyOn(breakActions, 'act').mockImplementation(async (...args) => {
      if ((begun += 1) === 3) await suspended;
      return actOn(...args);
    });
    const first = request();
    await until('the first process is suspended', async () => begun === 3);
    const later = await fixture.addUnexpectedLine({ amountCents });
    await sql(`UPDATE idempotency_record SET leased_until = now() - interval '1 second'`);
    const second = await request();
    resume();
    expect((await first).body).toEqual(second.body);
    spy.mockRestore();
    expect(second.body.counts).toEqual({ done: 5, unchanged: 0, refused: 0 });
    expect(second.body.data.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
    for (const id of ids) expect(await actions(id)).toEqual(expected);
    expect(await actions(later.id)).toEqual(['opened']);
    await act(later.id, 'accept');
  });

  it('lists candidates with the reasons for each', async () => {
    const reference = 'ORDER-2026-771';
    const document = '39053344705';
    const best = await fixture.addExpectedPayment({ amountCents: 12_345, document, reference });
    const second = await fixture.addExpectedPayment({ amountCents: 12_345 });
    await fixture.addExpectedPayment({ amountCents: 12_345, isCredit: false });
    const { id, nsu } = await fixture.addUnexpectedLine({
      amountCents: 12_345,
      document,
      notes: `pagamento ${reference}`,
    });
    // The same time as the line, because a new day may begin between the two inserts.
    await sql(
      `UPDATE expected_payment
       SET created_at = (SELECT occurred_at FROM statement_line WHERE nsu = $1)`,
      nsu,
    );
    const { candidates } = await get(id);
    expect(candidates).toMatchObject([
      {
        expectedPaymentId: best,
        score: 100,
        reasons: expect.arrayContaining(['shared_reference']),
      },
      { expectedPaymentId: second, reasons: ['same_amount', 'same_day'] },
    ]);
    const missing = await fixture.addBreak('missing', `expected_payment:${best}`, {
      expectedPaymentId: best,
    });
    expect((await get(missing)).candidates[0]).toMatchObject({ nsu, score: 100 });
    // Evidence and history never contain it; the counterparty does.
    for (const shown of [await get(id), await get(missing)]) {
      const others = { ...shown, counterparty: null, candidates: [] };
      expect(JSON.stringify(others)).not.toContain(document);
      expect(shown.counterparty).toMatchObject({ taxId: document });
    }
  });

  it('filters by the fields that a break shows, with the same severity in SQL as in the pure rule', async () => {
    const days = ['2026-11-23', '2026-11-19', '2026-10-01'];
    for (const [index, cents] of [99, 10_000, 100_000, 1_000_000].entries())
      for (const day of days) {
        const id = await fixture.addBreak('balance_mismatch', `grid ${index} ${day}`, {
          amountCents: cents,
        });
        await sql(`UPDATE break SET opened_day = $2 WHERE id = $1`, id, day);
      }
    const listed = async (query: string) =>
      (await service.call('GET', `/v1/breaks?kind=balance_mismatch&${query}`)).body.data;
    const all = await listed('limit=100');
    expect(all).toHaveLength(12);
    for (const severity of ['low', 'medium', 'high', 'critical'])
      expect(await listed(`severity=${severity}`)).toEqual(
        all.filter((found: { severity: string }) => found.severity === severity),
      );
    expect(await listed('openedFrom=2026-11-19&openedTo=2026-11-19')).toHaveLength(4);
    expect(await listed('minAmount=1000.00')).toHaveLength(6);
  });
});
