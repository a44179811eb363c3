// What a person does about breaks, through the service's doors, and what the book says afterwards.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { resolveEndedBillBreaks } from '../../src/reconciliation/bill-payment-breaks.queries.js';
import { resolveKnownOutcomes } from '../../src/reconciliation/breaks.queries.js';
import { resolveEndedStatementBreaks } from '../../src/reconciliation/statement-breaks.queries.js';
import { BookOfBreaks, codeOf } from '../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';
import { until } from '../support/until.js';

describe('what is done about a break', () => {
  let service: ServiceOnSandbox;
  const book = new BookOfBreaks(() => service);
  const { act, get, sql, steps, liveMatches } = book;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  it('links a line to one expected payment, tells it as the judge does, and writes it down', async () => {
    const { nsu, id } = await book.unexpected();
    const expectedPaymentId = await book.expected({ isWithdrawn: true });
    await sql(
      `INSERT INTO charge (account_id, correlation_id, operation_id, expected_payment_id, type, amount_cents)
       VALUES ($1, 'by-hand-1', gen_random_uuid(), $2, 'BANKSLIP', 1000)`,
      service.accountId,
      expectedPaymentId,
    );
    const { status, body } = await act(id, 'link', { expectedPaymentId });
    expect([status, body.state, body.resolution]).toEqual([200, 'resolved', 'link']);
    expect(await steps(id)).toEqual(['opened', 'resolved', 'link']);
    expect(body.trail.at(-1)).toMatchObject({ reason: 'as agreed', actor: expect.any(String) });
    expect(await liveMatches(nsu)).toEqual([{ rule: 'manual', manually: true, cents: 1_000 }]);
    expect(
      await sql(`SELECT withdrawn_at FROM expected_payment WHERE id = $1`, expectedPaymentId),
    ).toEqual([{ withdrawn_at: null }]);
    const told = `SELECT type FROM event WHERE data LIKE '%by-hand-1%'`;
    expect(await sql(told)).toEqual([{ type: 'charge.paid' }]);
  });

  it('links a line to several that add up to it, and to none that do not', async () => {
    const { nsu, id } = await book.unexpected();
    const [one, other, debit] = [
      await book.expected({ amountCents: 400 }),
      await book.expected({ amountCents: 600 }),
      await book.expected({ isCredit: false }),
    ];
    const allocate = (first: number, second: number) =>
      act(id, 'link', {
        allocations: [
          { expectedPaymentId: one, amount: first },
          { expectedPaymentId: other, amount: second },
        ],
      });
    expect(codeOf(await allocate(4, 5.99))).toEqual([422, 'allocations_differ']);
    expect(codeOf(await act(id, 'link', { expectedPaymentId: debit }))).toEqual([
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

  it('lets one of two that link a line at once win', async () => {
    const { nsu, id } = await book.unexpected();
    const both = [await book.expected(), await book.expected()];
    const answers = await Promise.all(
      both.map((expectedPaymentId) => act(id, 'link', { expectedPaymentId })),
    );
    expect(answers.map(codeOf).sort()).toEqual([
      [200, undefined],
      [409, 'already_resolved'],
    ]);
    expect(await liveMatches(nsu)).toHaveLength(1);
  });

  it.each([
    ['operation', randomUUID(), 'unknown_outcome', resolveKnownOutcomes],
    ['bill_payment', randomUUID(), 'unknown_outcome', resolveEndedBillBreaks],
    ['hole', '1', 'broken_balance_chain', resolveEndedStatementBreaks],
  ])('settles the break of one %s once, though two do at once', async (of, what, kind, settle) => {
    const id = await book.break(kind, `${of}:${what}`);
    const holder = await service.pool.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT FROM break WHERE id = $1 FOR UPDATE`, [id]);
    const both = [1, 2].map(() =>
      service.database.transaction((tx) => settle(tx, service.accountId)),
    );
    const waiting = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until('both wait', async () => (await sql(waiting)).length === 2);
    await holder.query('COMMIT');
    holder.release();
    expect((await Promise.all(both)).flat()).toMatchObject([{ id }]);
  });

  it('links what was missing to the line that pays it, whose own break is settled with it', async () => {
    const { nsu, id: ofLine } = await book.unexpected();
    const expectedPaymentId = await book.expected();
    const id = await book.break('missing', `expected_payment:${expectedPaymentId}`, {
      expectedPaymentId,
    });
    expect((await act(id, 'link', { nsu })).body).toMatchObject({
      state: 'resolved',
      resolution: 'link',
    });
    expect(await get(ofLine)).toMatchObject({ state: 'resolved', resolution: 'link' });
    await act(id, 'reopen');
    expect(await get(id)).toMatchObject({ state: 'open', resolution: null });
    expect(await liveMatches(nsu)).toEqual([]);
    await book.reconcile();
    expect(await get(ofLine)).toMatchObject({ state: 'open' });
    expect(await book.explanation(nsu)).toMatchObject({ state: 'in_break' });
  });

  it('leaves what a line was matched by beside the break that holds it', async () => {
    const { nsu, id } = await book.unexpected();
    expect(await book.explanation(nsu)).toMatchObject({
      ...{ state: 'in_break', rule: 'unexpected', breakKind: 'unexpected' },
      breakEvidence: { candidates: [] },
    });
    const expectedPaymentId = await book.expected();
    await act(id, 'link', { expectedPaymentId });
    await book.break('overpaid', `nsu:${nsu}`, { nsu });
    expect(await book.explanation(nsu)).toMatchObject({
      ...{ state: 'in_break', rule: 'manual', breakKind: 'overpaid', breakEvidence: {} },
      expectedPaymentIds: [expectedPaymentId],
    });
  });

  it('accepts a line that nothing explains, and takes that back', async () => {
    const { nsu, id } = await book.unexpected();
    expect((await act(id, 'accept')).body).toMatchObject({
      state: 'resolved',
      resolution: 'accept',
    });
    expect(
      await sql(`SELECT rule, category, reason FROM classification WHERE nsu = $1`, nsu),
    ).toEqual([{ rule: 'manual', category: 'accepted', reason: 'as agreed' }]);
    expect(await book.explanation(nsu)).toMatchObject({ state: 'classified', rule: 'manual' });
    expect(codeOf(await act(id, 'accept'))).toEqual([409, 'already_resolved']);
    await book.reconcile();
    const other = await book.break('unreadable_line', `line:${nsu}`, { nsu });
    await act(other, 'accept');
    await act(other, 'reopen');
    expect(await book.explanation(nsu)).toMatchObject({ state: 'classified', rule: 'manual' });
    expect((await act(id, 'reopen')).body.state).toBe('open');
    expect(await sql(`SELECT 1 FROM classification WHERE nsu = $1`, nsu)).toEqual([]);
    expect(codeOf(await act(id, 'reopen'))).toEqual([409, 'already_open']);
    await act(id, 'note', { reason: 'asked the payer' });
    expect(await steps(id)).toEqual(['opened', 'resolved', 'reopen', 'reopened', 'note']);
  });

  it('opens nothing again that evidence settled, writes each amount down, and changes nothing of it', async () => {
    const { nsu, id } = await book.unexpected();
    await sql(`UPDATE break SET amount_cents = 700 WHERE nsu = $1`, nsu);
    const revised = { action: 'revised', detail: { fromCents: '1000', toCents: '700' } };
    expect((await get(id)).trail.at(-1)).toMatchObject(revised);
    await sql(`UPDATE break SET state = 'resolved', resolved_at = now() WHERE nsu = $1`, nsu);
    expect(codeOf(await act(id, 'reopen'))).toEqual([409, 'settled_itself']);
    await expect(
      sql(`UPDATE break_history_entry SET reason = 'x' WHERE break_id = $1`, id),
    ).rejects.toThrow(/only added to/);
    await expect(sql(`DELETE FROM break_history_entry WHERE break_id = $1`, id)).rejects.toThrow(
      /only added to/,
    );
  });

  it('acts on many, tells of each, and is done with the second time', async () => {
    const some = [await book.unexpected(), await book.unexpected()];
    const again = some[0]?.id.toUpperCase();
    const ids = [...some.map(({ id }) => id), again, randomUUID()];
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
    const { id } = await book.unexpected({ amountCents: 7 });
    await book.unexpected({ amountCents: 8 });
    const filter = { kind: 'unexpected', maxAmount: 0.07 };
    expect((await bulk({ filter, action: 'accept' })).data).toMatchObject([
      { id, outcome: 'done' },
    ]);
  });

  it('finds candidates, and says what speaks for each', async () => {
    const reference = 'ORDER-2026-771';
    const document = '39053344705';
    const best = await book.expected({ amountCents: 12_345, document, reference });
    const second = await book.expected({ amountCents: 12_345 });
    await book.expected({ amountCents: 12_345, isCredit: false });
    const { id, nsu } = await book.unexpected({
      amountCents: 12_345,
      document,
      notes: `pagamento ${reference}`,
    });
    // Asked for when it came: a day may begin between the two.
    await sql(
      `UPDATE expected_payment SET created_at = (SELECT occurred_at FROM statement_line WHERE nsu = $1)`,
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
    const missing = await book.break('missing', `expected_payment:${best}`, {
      expectedPaymentId: best,
    });
    expect((await get(missing)).candidates[0]).toMatchObject({ nsu, score: 100 });
    expect(JSON.stringify([await get(id), await get(missing)])).not.toContain(document);
  });

  it('filters by what each shows, severity in SQL as in the pure rule', async () => {
    const days = ['2026-11-23', '2026-11-19', '2026-10-01'];
    for (const [place, cents] of [99, 10_000, 100_000, 1_000_000].entries())
      for (const day of days) {
        const id = await book.break('balance_mismatch', `grid ${place} ${day}`, {
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
        all.filter((one: { severity: string }) => one.severity === severity),
      );
    expect(await listed('openedFrom=2026-11-19&openedTo=2026-11-19')).toHaveLength(4);
    expect(await listed('minAmount=1000.00')).toHaveLength(6);
  });
});
