// What a person links and unlinks, through the service's doors, and what the judge makes of it.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BookOfBreaks, codeOf } from '../support/breaks.js';
import { expectPendingFound } from '../support/pending-lines.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';

describe('what a person links', () => {
  let service: ServiceOnSandbox;
  const book = new BookOfBreaks(() => service);
  const { act, get, sql, steps, liveMatches } = book;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  // Nothing that a hand does hides a line that nothing explains.
  afterEach(() => expectPendingFound(service.database));
  afterAll(() => service.stop());

  it('matches by POST, unlinks by DELETE, and no id matches the pair again', async () => {
    const reference = `hand-${randomUUID()}`;
    const expectedPaymentId = await book.expected({ reference });
    const nsu = await book.line();
    const link = () =>
      service.call('POST', '/v1/matches', {
        body: { nsu, allocations: [{ expectedPaymentId, amount: 10 }], reason: 'as agreed' },
      });
    expect(codeOf(await link())).toEqual([409, 'line_is_pending']);
    await book.reconcile();
    const { status, body } = await link();
    expect([status, body.data[0].rule, body.data[0].reason]).toEqual([201, 'manual', 'as agreed']);
    expect(codeOf(await link())).toEqual([409, 'line_is_linked']);
    const undo = (query = '', fields: object = {}) =>
      service.call('DELETE', `/v1/matches/${body.data[0].id}${query}`, fields);
    expect((await undo()).status).toBe(400);
    const undone = await undo('?reason=not+theirs');
    expect(undone.body.data[0]).toMatchObject({
      unlinkReason: 'not theirs',
      unlinkedBy: expect.any(String),
    });
    expect(codeOf(await undo('', { body: { reason: 'again' } }))).toEqual([
      409,
      'already_unlinked',
    ]);
    await sql(
      `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id) VALUES ($1, 'nsu', $2, $3)`,
      service.accountId,
      String(nsu),
      expectedPaymentId,
    );
    await book.reconcile();
    expect(await liveMatches(nsu)).toEqual([]);
    expect(await book.explanation(nsu)).toMatchObject({ state: 'in_break', rule: 'unexpected' });
  });

  it('gives a line back to what its id names once the link that displaced it is undone', async () => {
    const [named, other] = [await book.expected(), await book.expected()];
    const nsu = await book.line();
    await sql(
      `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id) VALUES ($1, 'nsu', $2, $3)`,
      service.accountId,
      String(nsu),
      named,
    );
    await book.reconcile();
    expect(await liveMatches(nsu)).toMatchObject([{ rule: 'reference' }]);
    const { body } = await service.call('POST', '/v1/matches', {
      body: { nsu, allocations: [{ expectedPaymentId: other, amount: 10 }], reason: 'as agreed' },
    });
    expect(await liveMatches(nsu)).toMatchObject([{ rule: 'manual' }]);
    await service.call('DELETE', `/v1/matches/${body.data[0].id}?reason=not+theirs`);
    await book.reconcile();
    expect(await liveMatches(nsu)).toMatchObject([{ rule: 'reference' }]);
  });

  it('asks again about an accepted line whose link by hand was undone', async () => {
    const { nsu, id } = await book.unexpected();
    await act(id, 'accept');
    const allocations = [{ expectedPaymentId: await book.expected(), amount: 10 }];
    const body = { nsu, allocations, reason: 'as agreed' };
    const { body: linked } = await service.call('POST', '/v1/matches', { body });
    await service.call('DELETE', `/v1/matches/${linked.data[0].id}?reason=not+theirs`);
    await book.reconcile();
    expect(await get(id)).toMatchObject({ state: 'open' });
    expect(await steps(id)).toEqual(['opened', 'resolved', 'unlink', 'reopened']);
    expect(await book.explanation(nsu)).toMatchObject({ state: 'in_break' });
  });

  it('gives a second payment back to its charge where the link elsewhere is taken back', async () => {
    const reference = `twice-${randomUUID()}`;
    const charge = await book.expected({ reference });
    await book.line({ correlationId: reference });
    const nsu = await book.line({ correlationId: reference });
    await book.reconcile();
    const { body } = await service.call('GET', `/v1/breaks?nsu=${nsu}`);
    expect(body.data).toMatchObject([{ kind: 'duplicate_payment', state: 'open' }]);
    const { id } = body.data[0];
    await sql(`UPDATE break SET opened_at = now() - interval '20 days' WHERE id = $1`, id);
    await act(id, 'link', { expectedPaymentId: await book.expected() });
    await act(id, 'reopen');
    await book.reconcile();
    expect(
      await sql(
        `SELECT rule, expected_payment_id AS id FROM match WHERE nsu = $1 AND unlinked_at IS NULL`,
        nsu,
      ),
    ).toEqual([{ rule: 'reference', id: charge }]);
    expect(await get(id)).toMatchObject({ state: 'open', kind: 'duplicate_payment' });
    // One trouble all the while, as old as it is.
    expect((await book.steps(id)).slice(-2)).toEqual(['reopen', 'reopened']);
    const age = await sql(
      `SELECT opened_at < now() - interval '19 days' AS old FROM break WHERE id = $1`,
      id,
    );
    expect(age).toEqual([{ old: true }]);
  });

  it('asks anew what is owed, once the payment whose rest was given up is taken away', async () => {
    const reference = `short-${randomUUID()}`;
    const expectedPaymentId = await book.expected({ reference });
    const nsu = await book.line({ correlationId: reference, amountCents: 900 });
    await book.reconcile();
    const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${nsu}`)).body.data;
    await act(id, 'accept');
    const [match] = (await service.call('GET', `/v1/matches?nsu=${nsu}`)).body.data;
    await service.call('DELETE', `/v1/matches/${match.id}?reason=another`);
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'automatic' });
    await book.line({ correlationId: reference, amountCents: 999 });
    await book.reconcile();
    expect(await get(id)).toMatchObject({ state: 'open', amount: 0.01, expectedPaymentId });
    expect(await steps(id)).toEqual(['opened', 'resolved', 'unlink', 'reopened']);
  });

  it('links what came back to what was sent, and no more than that', async () => {
    const expectedPaymentId = await book.expected({ isCredit: false });
    const sent = await book.unexpected({ isCredit: false });
    const back = await book.unexpected({ amountCents: 600 });
    const more = await book.unexpected({ amountCents: 401 });
    const early = await act(back.id, 'link', { expectedPaymentId });
    expect(codeOf(early)).toEqual([422, 'direction_differs']);
    await act(sent.id, 'link', { expectedPaymentId });
    expect((await act(back.id, 'link', { expectedPaymentId })).status).toBe(200);
    expect(codeOf(await act(more.id, 'link', { expectedPaymentId }))).toEqual([
      422,
      'more_than_paid',
    ]);
    const { body } = await service.call('GET', `/v1/matches?nsu=${back.nsu}`);
    expect(body.data).toMatchObject([{ role: 'reversal', rule: 'manual', amount: 6 }]);
  });
});
