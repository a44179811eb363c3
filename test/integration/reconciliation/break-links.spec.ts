// Manual links and unlinks through the API, and the outcomes that the matcher decides afterwards.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { expectPendingLinesListed } from '../../support/pending-lines.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('manual links', () => {
  let service: ServiceOnSandbox;
  const fixture = new BreaksFixture(() => service);
  const { act, get, sql, actions, liveMatches } = fixture;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  // No manual action hides a line without an outcome.
  afterEach(() => expectPendingLinesListed(service.database));
  afterAll(() => service.stop());

  it('links by POST, unlinks by DELETE, and never matches the unlinked pair by reference again', async () => {
    const reference = `manual-${randomUUID()}`;
    const expectedPaymentId = await fixture.addExpectedPayment({ reference });
    const nsu = await fixture.addLine();
    const link = () =>
      service.call('POST', '/v1/matches', {
        body: { nsu, allocations: [{ expectedPaymentId, amount: 10 }], reason: 'as agreed' },
      });
    expect(statusAndCode(await link())).toEqual([409, 'line_is_pending']);
    await fixture.reconcile();
    const { status, body } = await link();
    expect([status, body.data[0].rule, body.data[0].reason]).toEqual([201, 'manual', 'as agreed']);
    expect(statusAndCode(await link())).toEqual([409, 'line_is_linked']);
    const unlink = (query = '', fields: object = {}) =>
      service.call('DELETE', `/v1/matches/${body.data[0].id}${query}`, fields);
    expect((await unlink()).status).toBe(400);
    const unlinked = await unlink('?reason=not+theirs');
    expect(unlinked.body.data[0]).toMatchObject({
      unlinkReason: 'not theirs',
      unlinkedBy: expect.any(String),
    });
    expect(statusAndCode(await unlink('', { body: { reason: 'again' } }))).toEqual([
      409,
      'already_unlinked',
    ]);
    await sql(
      `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       VALUES ($1, 'nsu', $2, $3)`,
      service.accountId,
      String(nsu),
      expectedPaymentId,
    );
    await fixture.reconcile();
    expect(await liveMatches(nsu)).toEqual([]);
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break', rule: 'unexpected' });
  });

  it('matches a line by its reference again once the manual link that displaced the match is unlinked', async () => {
    const [referenced, other] = [
      await fixture.addExpectedPayment(),
      await fixture.addExpectedPayment(),
    ];
    const nsu = await fixture.addLine();
    await sql(
      `INSERT INTO expected_payment_reference (account_id, kind, value, expected_payment_id)
       VALUES ($1, 'nsu', $2, $3)`,
      service.accountId,
      String(nsu),
      referenced,
    );
    await fixture.reconcile();
    expect(await liveMatches(nsu)).toMatchObject([{ rule: 'reference' }]);
    const { body } = await service.call('POST', '/v1/matches', {
      body: { nsu, allocations: [{ expectedPaymentId: other, amount: 10 }], reason: 'as agreed' },
    });
    expect(await liveMatches(nsu)).toMatchObject([{ rule: 'manual' }]);
    await service.call('DELETE', `/v1/matches/${body.data[0].id}`, {
      body: { reason: 'not theirs' },
    });
    await fixture.reconcile();
    expect(await liveMatches(nsu)).toMatchObject([{ rule: 'reference' }]);
  });

  it('reopens the break of an accepted line once its later manual link is unlinked', async () => {
    const { nsu, id } = await fixture.addUnexpectedLine();
    await act(id, 'accept');
    const allocations = [{ expectedPaymentId: await fixture.addExpectedPayment(), amount: 10 }];
    const body = { nsu, allocations, reason: 'as agreed' };
    const { body: linked } = await service.call('POST', '/v1/matches', { body });
    await service.call('DELETE', `/v1/matches/${linked.data[0].id}?reason=not+theirs`);
    await fixture.reconcile();
    expect(await get(id)).toMatchObject({ state: 'open' });
    expect(await actions(id)).toEqual(['opened', 'accept', 'resolved', 'unlink', 'reopened']);
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'in_break' });
  });

  it('matches a second payment to its charge again once its link to another payment is undone', async () => {
    const reference = `twice-${randomUUID()}`;
    const charge = await fixture.addExpectedPayment({ reference });
    await fixture.addLine({ correlationId: reference });
    const nsu = await fixture.addLine({ correlationId: reference });
    await fixture.reconcile();
    const { body } = await service.call('GET', `/v1/breaks?nsu=${nsu}`);
    expect(body.data).toMatchObject([{ kind: 'duplicate_payment', state: 'open' }]);
    const { id } = body.data[0];
    await sql(`UPDATE break SET opened_at = now() - interval '20 days' WHERE id = $1`, id);
    await act(id, 'link', { expectedPaymentId: await fixture.addExpectedPayment() });
    await act(id, 'reopen');
    await fixture.reconcile();
    expect(
      await sql(
        `SELECT rule, expected_payment_id AS id FROM match WHERE nsu = $1 AND unlinked_at IS NULL`,
        nsu,
      ),
    ).toEqual([{ rule: 'reference', id: charge }]);
    expect(await get(id)).toMatchObject({ state: 'open', kind: 'duplicate_payment' });
    // The break is still the same one, with its original age.
    expect((await fixture.actions(id)).slice(-3)).toEqual(['reopen', 'unlink', 'reopened']);
    const age = await sql(
      `SELECT opened_at < now() - interval '19 days' AS old FROM break WHERE id = $1`,
      id,
    );
    expect(age).toEqual([{ old: true }]);
  });

  it('reopens an accepted underpayment when another payment replaces the unlinked payment', async () => {
    const reference = `short-${randomUUID()}`;
    const expectedPaymentId = await fixture.addExpectedPayment({ reference });
    const nsu = await fixture.addLine({ correlationId: reference, amountCents: 900 });
    await fixture.reconcile();
    const [{ id }] = (await service.call('GET', `/v1/breaks?nsu=${nsu}`)).body.data;
    await act(id, 'accept');
    const [match] = (await service.call('GET', `/v1/matches?nsu=${nsu}`)).body.data;
    await service.call('DELETE', `/v1/matches/${match.id}?reason=another`);
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'automatic' });
    await fixture.addLine({ correlationId: reference, amountCents: 999 });
    await fixture.reconcile();
    expect(await get(id)).toMatchObject({ state: 'open', amount: 0.01, expectedPaymentId });
    expect(await actions(id)).toEqual(['opened', 'accept', 'resolved', 'unlink', 'reopened']);
  });

  it('links reversals to a sent payment up to the amount that was paid', async () => {
    const expectedPaymentId = await fixture.addExpectedPayment({ isCredit: false });
    const sent = await fixture.addUnexpectedLine({ isCredit: false });
    const reversal = await fixture.addUnexpectedLine({ amountCents: 600 });
    const excess = await fixture.addUnexpectedLine({ amountCents: 401 });
    const beforeDebit = await act(reversal.id, 'link', { expectedPaymentId });
    expect(statusAndCode(beforeDebit)).toEqual([422, 'direction_differs']);
    await act(sent.id, 'link', { expectedPaymentId });
    expect((await act(reversal.id, 'link', { expectedPaymentId })).status).toBe(200);
    expect(statusAndCode(await act(excess.id, 'link', { expectedPaymentId }))).toEqual([
      422,
      'more_than_paid',
    ]);
    const { body } = await service.call('GET', `/v1/matches?nsu=${reversal.nsu}`);
    expect(body.data).toMatchObject([{ role: 'reversal', rule: 'manual', amount: 6 }]);
  });
});
