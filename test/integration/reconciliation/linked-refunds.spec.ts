// Refunds by the bank that carry no id of their Pix: what they mean once a person links them, and
// that nothing is refunded twice.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RefundPolicies } from '../../../src/reconciliation/breaks/refund-policies.service.js';
import { slip } from '../../contract/samples.js';
import { BreaksFixture, statusAndCode } from '../../support/breaks.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';

describe('a refund by the bank without the id of its Pix', () => {
  let service: ServiceOnSandbox;
  const fixture = new BreaksFixture(() => service);
  const { sql, act, get, liveMatches } = fixture;

  beforeAll(async () => {
    service = await serviceOnSandbox();
    await service.bank.call('PATCH', '/sandbox/modes', { body: { lineOriginalId: 'absent' } });
    // Each refund may be of this Pix too: all are of one payer.
    await receive(9_000);
  });
  afterAll(() => service.stop());

  const syncAndReconcile = async () => {
    await service.sync();
    await fixture.reconcile();
  };
  const receive = async (amount: number, fields: object = {}) => {
    const { body } = await service.bank.call('POST', '/sandbox/pix/received', {
      body: { amount, ...fields },
    });
    await syncAndReconcile();
    return body as { nsu: number; endToEndId: string };
  };
  const createCharge = async (amount: number): Promise<string> => {
    const charge = slip({ type: 'BANKSLIP_PIX', Amount: amount });
    const { status } = await service.call('POST', '/baas/v1/charges', { body: charge });
    expect(status).toBe(200);
    return charge.correlationId;
  };
  /** The bank returns an amount without our request. Returns the nsu of the debit. */
  const returnByBank = async (endToEndId: string, amount: number): Promise<number> => {
    await service.bank.call('POST', '/sandbox/pix/med', { body: { endToEndId, amount } });
    await syncAndReconcile();
    const [line] = await sql(
      `SELECT nsu::int, original_end_to_end_id AS original FROM statement_line
       WHERE account_id = $1 AND type_name = 'DEBIT_PIX_REFUND' ORDER BY arrival DESC LIMIT 1`,
      service.accountId,
    );
    expect(line.original).toBeNull();
    return line.nsu;
  };
  const readCharge = async (correlationId: string) =>
    (await service.call('GET', `/v1/charges/${correlationId}`)).body;
  const paymentIdOf = async (correlationId: string): Promise<string> => {
    const [charge] = await sql(
      `SELECT expected_payment_id AS id FROM charge WHERE correlation_id = $1`,
      correlationId,
    );
    return charge.id;
  };
  const link = (nsu: number, parts: object) =>
    service.call('POST', '/v1/matches', { body: { nsu, ...parts, reason: 'as agreed' } });
  const unlink = (id: string | number) =>
    service.call('DELETE', `/v1/matches/${id}?reason=not+theirs`);
  const refund = (nsu: number, amount: number) =>
    service.call('PUT', `/baas/api/v1/transactions/${nsu}/refund?filterBy=NSU`, {
      body: { amount },
      headers: { IdempotencyKey: randomUUID(), 'Concilia-Allow-Duplicate': 'true' },
    });
  const breaksOf = async (nsu: number) =>
    (await service.call('GET', `/v1/breaks?nsu=${nsu}&state=open`)).body.data.map(
      ({ kind, amount }: { kind: string; amount: number }) => `${kind} ${amount}`,
    );

  it('refunds the charge once a person links it, and nothing is left to refund', async () => {
    const correlationId = await createCharge(70);
    const pix = await receive(70, { correlationId });
    const nsu = await returnByBank(pix.endToEndId, 70);
    expect(await readCharge(correlationId)).toMatchObject({ settlement: 'settled' });
    expect(statusAndCode(await refund(pix.nsu, 70))).toEqual([422, 'refund_frozen']);
    const allocations = [{ expectedPaymentId: await paymentIdOf(correlationId), amount: 70 }];
    const { status, body } = await link(nsu, { allocations });
    expect([status, body.data]).toMatchObject([201, [{ role: 'reversal', rule: 'manual' }]]);
    expect(await readCharge(correlationId)).toMatchObject({
      settlement: 'refunded',
      refunds: [{ originalNsu: pix.nsu, nsu, amount: 70, orderedBy: 'bank' }],
    });
    expect(statusAndCode(await refund(pix.nsu, 0.01))).toEqual([422, 'refund_exceeds_original']);
    const events = await sql(
      `SELECT type FROM event WHERE account_id = $1 AND data::jsonb ->> 'nsu' = $2`,
      service.accountId,
      String(nsu),
    );
    expect(events).toContainEqual({ type: 'charge.refunded' });
  });

  it('is no reason to call the next payment a duplicate, or to refund it by a policy', async () => {
    const correlationId = await createCharge(55);
    const pix = await receive(55, { correlationId });
    const nsu = await returnByBank(pix.endToEndId, 55);
    expect((await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 55 }] })).status).toBe(201);
    const policies = [{ kind: 'duplicate_payment', isOn: true, maxAmount: null }];
    const body = { policies, reason: 'as agreed' };
    expect((await service.call('PUT', '/v1/refund-policies', { body })).status).toBe(200);
    const again = await receive(55, { correlationId });
    expect(await breaksOf(again.nsu)).toEqual([]);
    expect(await readCharge(correlationId)).toMatchObject({ settlement: 'settled' });
    await sql(
      `UPDATE statement_state SET closed_from = now() - interval '1 day',
         closed_until = now() + interval '1 hour'`,
    );
    const { accountId, application } = service;
    await application.get(RefundPolicies, { strict: false }).apply({ accountId });
    const refunds = await service.call('GET', `/v1/refunds?originalNsu=${again.nsu}`);
    expect(refunds.body.data).toEqual([]);
    const off = { policies: [{ kind: 'duplicate_payment', isOn: false }], reason: 'tested' };
    await service.call('PUT', '/v1/refund-policies', { body: off });
  });

  it('may be linked to a Pix that pays nothing, and freezes its payer again when unlinked', async () => {
    const pix = await receive(31);
    const nsu = await returnByBank(pix.endToEndId, 30);
    expect(statusAndCode(await refund(pix.nsu, 1))).toEqual([422, 'refund_frozen']);
    expect((await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 30 }] })).status).toBe(201);
    expect(await fixture.explanation(nsu)).toMatchObject({ state: 'classified' });
    expect(statusAndCode(await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 30 }] }))).toEqual([
      409,
      'line_is_linked',
    ]);
    expect(statusAndCode(await refund(pix.nsu, 1.01))).toEqual([422, 'refund_exceeds_original']);
    expect((await unlink(nsu)).status).toBe(200);
    expect(statusAndCode(await unlink(nsu))).toEqual([409, 'already_unlinked']);
    expect(statusAndCode(await refund(pix.nsu, 1))).toEqual([422, 'refund_frozen']);
    expect((await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 30 }] })).status).toBe(201);
    expect((await refund(pix.nsu, 1)).status).toBe(200);
    await syncAndReconcile();
  });

  it('takes back a link by reopening the break that the link resolved', async () => {
    const pix = await receive(12);
    const nsu = await returnByBank(pix.endToEndId, 12);
    const { body } = await service.call('GET', `/v1/breaks?nsu=${nsu}&state=open`);
    const { id } = body.data[0];
    expect((await act(id, 'link', { refundOf: [{ nsu: pix.nsu, amount: 12 }] })).status).toBe(200);
    expect(await get(id)).toMatchObject({ state: 'resolved', resolution: 'link' });
    expect(await breaksOf(pix.nsu)).toEqual([]);
    expect((await act(id, 'reopen')).status).toBe(200);
    expect(await get(id)).toMatchObject({ state: 'open' });
    expect(await breaksOf(pix.nsu)).toEqual(['unexpected 12']);
    await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 12 }] });
  });

  it('needs the Pix by name where several may be the one', async () => {
    const correlationId = await createCharge(20);
    const [first, second] = [
      await receive(20, { correlationId }),
      await receive(20, { correlationId }),
    ];
    const nsu = await returnByBank(second.endToEndId, 20);
    const allocations = [{ expectedPaymentId: await paymentIdOf(correlationId), amount: 20 }];
    expect(statusAndCode(await link(nsu, { allocations }))).toEqual([422, 'original_required']);
    expect(await breaksOf(second.nsu)).toEqual(['duplicate_payment 20']);
    expect((await link(nsu, { refundOf: [{ nsu: second.nsu, amount: 20 }] })).status).toBe(201);
    expect(await breaksOf(second.nsu)).toEqual([]);
    expect(statusAndCode(await refund(second.nsu, 1))).toEqual([422, 'refund_exceeds_original']);
    expect((await refund(first.nsu, 20)).status).toBe(200);
    await syncAndReconcile();
    expect(await readCharge(correlationId)).toMatchObject({ settlement: 'refunded' });
  });

  it('refuses parts that are no refund of a received payment', async () => {
    const pix = await receive(5);
    const nsu = await returnByBank(pix.endToEndId, 5);
    const partsOf = (...refundOf: object[]) => link(nsu, { refundOf });
    expect(statusAndCode(await partsOf({ nsu: pix.nsu, amount: 4 }))).toEqual([
      422,
      'allocations_differ',
    ]);
    expect((await partsOf({ nsu: 123456789, amount: 5 })).status).toBe(404);
    expect(statusAndCode(await partsOf({ nsu, amount: 5 }))).toEqual([422, 'not_refundable']);
    const small = await receive(1);
    expect(statusAndCode(await partsOf({ nsu: small.nsu, amount: 5 }))).toEqual([
      422,
      'refund_exceeds_original',
    ]);
    const both = { allocations: [{ expectedPaymentId: randomUUID(), amount: 5 }] };
    const refundOf = [{ nsu: pix.nsu, amount: 5 }];
    expect((await link(nsu, { ...both, refundOf })).status).toBe(400);
    expect((await link(nsu, {})).status).toBe(400);
    expect((await link(nsu, { refundOf })).status).toBe(201);
  });

  it('is refused for a debit that names another Pix', async () => {
    const [one, other] = [await receive(8), await receive(8)];
    await service.bank.call('PATCH', '/sandbox/modes', { body: { lineOriginalId: 'present' } });
    await service.bank.call('POST', '/sandbox/pix/med', {
      body: { endToEndId: one.endToEndId, amount: 8 },
    });
    await syncAndReconcile();
    await service.bank.call('PATCH', '/sandbox/modes', { body: { lineOriginalId: 'absent' } });
    const [{ nsu }] = await sql(
      `SELECT nsu::int FROM statement_line WHERE original_end_to_end_id = $1`,
      one.endToEndId,
    );
    expect(statusAndCode(await link(nsu, { refundOf: [{ nsu: other.nsu, amount: 8 }] }))).toEqual([
      422,
      'names_another',
    ]);
    expect((await link(nsu, { refundOf: [{ nsu: one.nsu, amount: 8 }] })).status).toBe(201);
    expect(await breaksOf(one.nsu)).toEqual([]);
    const own = await refund(other.nsu, 3);
    await syncAndReconcile();
    expect(
      statusAndCode(await link(own.body.nsu, { refundOf: [{ nsu: one.nsu, amount: 3 }] })),
    ).toEqual([422, 'names_another']);
  });

  it('opens a critical break where more was refunded than received', async () => {
    const correlationId = await createCharge(40);
    const pix = await receive(40, { correlationId });
    expect((await refund(pix.nsu, 40)).status).toBe(200);
    await syncAndReconcile();
    // The sandbox returns no Pix twice: another debit takes the place of the bank's.
    const another = await receive(40);
    const nsu = await returnByBank(another.endToEndId, 40);
    expect((await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 40 }] })).status).toBe(201);
    expect(await breaksOf(pix.nsu)).toEqual(['over_refunded 40']);
    const [match] = await liveMatches(nsu);
    expect(match).toMatchObject({ rule: 'manual' });
    const matches = (await service.call('GET', `/v1/matches?nsu=${nsu}`)).body.data;
    expect((await unlink(matches[0].id)).status).toBe(200);
    await link(nsu, { refundOf: [{ nsu: another.nsu, amount: 40 }] });
    expect(await breaksOf(pix.nsu)).toEqual([]);
  });

  it('waits while a refund of the Pix is under way', async () => {
    const pix = await receive(60);
    const nsu = await returnByBank(pix.endToEndId, 10);
    await link(nsu, { refundOf: [{ nsu: pix.nsu, amount: 10 }] });
    const fault = { endpoint: 'refunds', kind: 'reset-after-effect', times: 1 };
    await service.bank.call('POST', '/sandbox/faults', { body: fault });
    expect((await refund(pix.nsu, 50)).body).toMatchObject({ state: 'unknown' });
    expect(statusAndCode(await unlink(nsu))).toEqual([409, 'refund_under_way']);
    const second = await receive(10);
    const other = await returnByBank(second.endToEndId, 10);
    expect(statusAndCode(await link(other, { refundOf: [{ nsu: pix.nsu, amount: 10 }] }))).toEqual([
      409,
      'refund_under_way',
    ]);
    expect((await link(other, { refundOf: [{ nsu: second.nsu, amount: 10 }] })).status).toBe(201);
  });
});
