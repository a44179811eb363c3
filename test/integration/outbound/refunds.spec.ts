import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OperationKind } from '../../../src/outbound/operations/operation.js';
import { RefundsService } from '../../../src/outbound/refunds/refunds.service.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../../support/service-on-sandbox.js';
import { until } from '../../support/until.js';

interface Received {
  nsu: number;
  endToEndId: string;
}

const exceeds = [422, 'refund_exceeds_original'];

describe('refunds of received Pix', () => {
  let service: ServiceOnSandbox;

  beforeAll(async () => {
    service = await serviceOnSandbox();
  });
  afterAll(() => service.stop());

  const receive = async (amount: number, fields: object = {}): Promise<Received> =>
    (await service.bank.call('POST', '/sandbox/pix/received', { body: { amount, ...fields } }))
      .body;
  /** A Pix from another account at the same bank. */
  const receiveFromSameBank = async (amount: number): Promise<Pick<Received, 'endToEndId'>> => {
    const apiKey = service.bank.otherApiKey;
    const { body: fixtures } = await service.bank.call('GET', '/sandbox/fixtures');
    const [{ key }] = fixtures.accounts[0].dictKeys ?? fixtures.dictKeys;
    const path = '/baas/api/v2/pix/dict/payment-initialization';
    const { body } = await service.bank.call('POST', path, { apiKey, body: { key } });
    const { status } = await service.bank.call('POST', '/baas/api/v2/transfers', {
      apiKey,
      body: { amount, initiationType: 'KEY', endToEndId: body.endToEndId },
      headers: { IdempotencyKey: randomUUID() },
    });
    expect(status).toBe(200);
    await until('the Pix has arrived', async () => {
      await service.sync();
      const id = body.endToEndId;
      return (await sql(`SELECT 1 FROM statement_line WHERE end_to_end_id = $1`, id)).length > 0;
    });
    return { endToEndId: body.endToEndId };
  };
  const refund = (
    id: string | number,
    amount: number,
    { filterBy = 'END_TO_END_ID', key = null as string | null, description = '' } = {},
  ) =>
    service.call('PUT', `/baas/api/v1/transactions/${id}/refund?filterBy=${filterBy}`, {
      body: { amount, ...(description ? { description } : {}) },
      // A refund with its own key is allowed while another refund is still in progress.
      headers: key === null ? {} : { IdempotencyKey: key, 'Concilia-Allow-Duplicate': 'true' },
    });
  const withNewKey = () => ({ key: randomUUID() });
  const codeOf = async (response: ReturnType<typeof refund>) => {
    const { status, body } = await response;
    return [status, body.code ?? null];
  };
  const readRefund = async (id: string | number) =>
    (await service.call('GET', `/v1/refunds/${id}`)).body;
  const sql = async (text: string, ...values: unknown[]) =>
    (await service.pool.query(text, values)).rows;
  const setMode = (mode: object) => service.bank.call('PATCH', '/sandbox/modes', { body: mode });

  it('refunds a Pix that is not synced yet, and reads the refund by each of its ids', async () => {
    const { nsu, endToEndId } = await receive(10);
    const { status, body } = await refund(endToEndId, 2.5);
    expect(status).toBe(200);
    const view = await readRefund(body.nsu);
    expect(view).toMatchObject({
      originalNsu: nsu,
      amount: 2.5,
      state: 'accepted',
      endToEndId: body.proof.endToEndId,
      nsu: body.nsu,
      settlement: 'open',
      response: body,
    });
    expect(await readRefund(view.id)).toEqual(view);
    expect(await readRefund(view.endToEndId)).toEqual(view);
    const { body: list } = await service.call('GET', `/v1/refunds?originalNsu=${nsu}`);
    expect(list).toEqual({ data: [view], next: null });
    const [original] = await sql(`SELECT counterparty FROM statement_line WHERE nsu = $1`, nsu);
    const references = await sql(
      `SELECT r.kind, r.value FROM expected_payment_reference r
       JOIN refund USING (account_id, expected_payment_id) WHERE refund.id = $1 ORDER BY r.kind`,
      view.id,
    );
    expect(references).toEqual([
      { kind: 'counterparty', value: original.counterparty },
      { kind: 'end_to_end_id', value: view.endToEndId },
      { kind: 'idempotency_key', value: view.id },
      { kind: 'movement_id', value: body.proof.id },
      { kind: 'nsu', value: String(body.nsu) },
      { kind: 'original_end_to_end_id', value: endToEndId },
    ]);
  });

  it('joins identical requests without a key, and refunds again for different ones', async () => {
    const { endToEndId, nsu } = await receive(10);
    const first = await refund(endToEndId, 1);
    expect((await refund(endToEndId, 1)).text).toBe(first.text);
    expect((await refund(endToEndId, 1, { description: 'again' })).body.nsu).not.toBe(
      first.body.nsu,
    );
    expect((await refund(nsu, 1, { filterBy: 'NSU' })).status).toBe(200);
    expect(await sql(`SELECT 1 FROM refund WHERE original_nsu = $1`, nsu)).toHaveLength(3);
  });

  it('replays a repeated request although the Pix is fully refunded', async () => {
    const { endToEndId } = await receive(10);
    const key = randomUUID();
    const first = await refund(endToEndId, 10, { key });
    expect(first.status).toBe(200);
    expect((await refund(endToEndId, 10, { key })).text).toBe(first.text);
    expect(await codeOf(refund(endToEndId, 10, withNewKey()))).toEqual(exceeds);
  });

  it('never refunds more than was received with twenty concurrent requests', async () => {
    const { endToEndId, nsu } = await receive(5);
    await service.sync();
    await service.bank.warmUp();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => refund(endToEndId, 0.7, withNewKey())),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(responses.filter(({ body }) => body.code === 'refund_exceeds_original')).toHaveLength(
      13,
    );
    expect(await sql(`SELECT 1 FROM refund WHERE original_nsu = $1`, nsu)).toHaveLength(7);
    expect(await codeOf(refund(endToEndId, 0.11, withNewKey()))).toEqual(exceeds);
  });

  it('counts a refund once: by its record until its line arrives, then by its line', async () => {
    const { endToEndId } = await receive(10);
    expect((await refund(endToEndId, 4, withNewKey())).status).toBe(200);
    expect((await refund(endToEndId, 6.01, withNewKey())).status).toBe(422);
    await service.sync();
    expect((await refund(endToEndId, 6.01, withNewKey())).status).toBe(422);
    expect((await refund(endToEndId, 6, withNewKey())).status).toBe(200);
  });

  it('counts a refund that the bank made without a request', async () => {
    const { endToEndId } = await receive(10);
    await service.bank.call('POST', '/sandbox/pix/med', { body: { endToEndId, amount: 4 } });
    await service.sync();
    expect((await refund(endToEndId, 6.01, withNewKey())).body.code).toBe(
      'refund_exceeds_original',
    );
    expect((await refund(endToEndId, 6, withNewKey())).status).toBe(200);
  });

  it('counts a refund whose response was lost, until its line is matched to it', async () => {
    const { endToEndId } = await receive(10);
    await service.sync();
    const fault = { endpoint: 'refunds', kind: 'reset-after-effect', times: 1 };
    await service.bank.call('POST', '/sandbox/faults', { body: fault });
    const { status, body: operation } = await refund(endToEndId, 4, withNewKey());
    expect([status, operation.state]).toEqual([202, 'unknown']);
    expect(await readRefund(operation.id)).toMatchObject({ state: 'requested', nsu: null });
    expect((await refund(endToEndId, 6.01, withNewKey())).body.code).toBe(
      'refund_exceeds_original',
    );
    await service.sync();
    // Until the line is matched to the refund, both count: the lower refundable amount is safe.
    expect((await refund(endToEndId, 2.01, withNewKey())).body.code).toBe(
      'refund_exceeds_original',
    );
    const [line] = await sql(
      `SELECT nsu::int, end_to_end_id AS "endToEndId" FROM statement_line
       WHERE original_end_to_end_id = $1`,
      endToEndId,
    );
    const [expected] = await sql(
      `SELECT expected_payment_id AS id FROM refund WHERE id = $1`,
      operation.id,
    );
    await service.match(line.nsu, expected.id);
    expect((await refund(endToEndId, 6, withNewKey())).status).toBe(200);
    // The operation succeeds by the statement's evidence alone.
    const { kind } = service.application.get(RefundsService, { strict: false }) as unknown as {
      kind: OperationKind;
    };
    const { accountId, database } = service;
    await database.transaction((tx) =>
      kind.onSucceeded!(tx, { ...operation, accountId } as never, { response: null }),
    );
    expect(await readRefund(operation.id)).toMatchObject({
      state: 'accepted',
      settlement: 'settled',
      ...line,
    });
  });

  it.each(['present', 'absent'])(
    'restores the refundable amount when a refund fails, with the original id %s on the line',
    async (lineOriginalId) => {
      await setMode({ lineOriginalId });
      const { endToEndId } = await receive(10);
      const fault = { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 1 };
      await service.bank.call('POST', '/sandbox/faults', { body: fault });
      const { body } = await refund(endToEndId, 10, withNewKey());
      await until('the refund is reversed', async () => {
        await service.sync();
        const id = body.proof.endToEndId;
        const lines = await sql(`SELECT 1 FROM statement_line WHERE end_to_end_id = $1`, id);
        return lines.length === 2;
      });
      expect((await refund(endToEndId, 10.01, withNewKey())).status).toBe(422);
      expect((await refund(endToEndId, 10, withNewKey())).status).toBe(200);
      await setMode({ lineOriginalId: 'present' });
    },
  );

  it('freezes refunds to a payer while a refund line names no Pix, until it is matched', async () => {
    const [refundedPix, secondPix] = [await receive(10), await receive(10)];
    const otherPayerPix = await receiveFromSameBank(10);
    await setMode({ lineOriginalId: 'absent' });
    // The service's own refund is attributed by its ids, although its line names no Pix.
    const ownRefund = await refund(refundedPix.endToEndId, 1, withNewKey());
    await service.sync();
    expect((await refund(refundedPix.endToEndId, 1, withNewKey())).status).toBe(200);
    const body = { endToEndId: refundedPix.endToEndId, amount: 3 };
    await service.bank.call('POST', '/sandbox/pix/med', { body });
    await service.sync();
    await setMode({ lineOriginalId: 'present' });
    for (const { endToEndId } of [refundedPix, secondPix])
      expect(await codeOf(refund(endToEndId, 1, withNewKey()))).toEqual([422, 'refund_frozen']);
    // A Pix of another payer and a Pix received later are not frozen.
    const laterPix = await receive(10);
    for (const { endToEndId } of [otherPayerPix, laterPix])
      expect((await refund(endToEndId, 1, withNewKey())).status).toBe(200);
    const [{ id }] = await sql(
      `SELECT expected_payment_id AS id FROM refund WHERE nsu = $1`,
      ownRefund.body.nsu,
    );
    const [{ nsu }] = await sql(
      `SELECT nsu::int FROM statement_line
       WHERE amount_cents = 300 AND original_end_to_end_id IS NULL
         AND type_name = 'DEBIT_PIX_REFUND'`,
    );
    await service.match(nsu, id);
    expect((await refund(secondPix.endToEndId, 1, withNewKey())).status).toBe(200);
    // Matched manually to a refund of that Pix, the line counts as refunded.
    expect((await refund(refundedPix.endToEndId, 5.01, withNewKey())).body.code).toBe(
      'refund_exceeds_original',
    );
  });

  it('rejects references to no received Pix, to several received Pix, and to no line', async () => {
    const { endToEndId } = await receive(10);
    const { body } = await refund(endToEndId, 1);
    await service.sync();
    expect(await codeOf(refund(body.nsu, 1, { filterBy: 'NSU' }))).toEqual([422, 'not_refundable']);
    const correlationId = randomUUID();
    const qr = await service.bank.call('POST', '/baas/api/v2/pix/qrcode/static', {
      body: { type: 'PIX_STATIC', correlationId },
      headers: { IdempotencyKey: randomUUID() },
    });
    expect(qr.status).toBe(200);
    const [first] = [await receive(1, { correlationId }), await receive(1, { correlationId })];
    await service.sync();
    expect(await codeOf(refund(correlationId, 1, { filterBy: 'CORRELATION_ID' }))).toEqual([
      422,
      'ambiguous_reference',
    ]);
    expect((await refund(first!.nsu, 1, { filterBy: 'NSU' })).status).toBe(200);
    expect((await refund('999999', 1, { filterBy: 'NSU' })).status).toBe(404);
    const wrong = await refund('1.5', 1, { filterBy: 'NSU' });
    expect([wrong.status, wrong.body.errors]).toEqual([
      400,
      { '$.transactionId': ['Must be a whole number.'] },
    ]);
  });

  it('stores nothing of a rejected request, whose key can be used again', async () => {
    const { endToEndId } = await receive(10);
    const [before] = await sql(`SELECT count(*) FROM operation`);
    const key = randomUUID();
    expect((await refund(endToEndId, 11, { key })).status).toBe(422);
    expect(await sql(`SELECT count(*) FROM operation`)).toEqual([before]);
    expect((await refund(endToEndId, 10, { key })).status).toBe(200);
  });

  it('rejects new refunds from the ninety-first day after receipt', async () => {
    const { endToEndId } = await receive(10);
    const key = randomUUID();
    const first = await refund(endToEndId, 1, { key });
    const { body } = await service.bank.call('GET', '/sandbox/clock');
    const day = new Date(new Date(body.now).getTime() - 3 * 3_600_000).toISOString().slice(0, 10);
    // The midnight in São Paulo that ends the ninetieth day.
    const end = new Date(new Date(`${day}T03:00:00Z`).getTime() + 91 * 86_400_000);
    const setClock = async (now: Date) => {
      await service.bank.call('POST', '/sandbox/clock', { body: { now: now.toISOString() } });
      await service.sync();
    };
    await setClock(new Date(end.getTime() - 60_000));
    expect((await refund(endToEndId, 1, withNewKey())).status).toBe(200);
    await setClock(new Date(end.getTime() + 1_000));
    const [before] = await sql(`SELECT count(*) FROM operation`);
    expect(await codeOf(refund(endToEndId, 1, withNewKey()))).toEqual([
      422,
      'refund_window_closed',
    ]);
    expect(await sql(`SELECT count(*) FROM operation`)).toEqual([before]);
    expect((await refund(endToEndId, 1, { key })).text).toBe(first.text);
  });
});
