import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OperationKind } from '../../src/operations/operation.js';
import { RefundsService } from '../../src/refunds/refunds.service.js';
import { serviceOnSandbox, type ServiceOnSandbox } from '../support/service-on-sandbox.js';
import { until } from '../support/until.js';

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
  /** A Pix of another account of the same bank. */
  const receiveFromWithin = async (amount: number): Promise<Pick<Received, 'endToEndId'>> => {
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
      // Under its own key a refund of these tests is meant, however long another has been on its way.
      headers: key === null ? {} : { IdempotencyKey: key, 'Concilia-Allow-Duplicate': 'true' },
    });
  const newKey = () => ({ key: randomUUID() });
  const codeOf = async (answer: ReturnType<typeof refund>) => {
    const { status, body } = await answer;
    return [status, body.code ?? null];
  };
  const read = async (id: string | number) => (await service.call('GET', `/v1/refunds/${id}`)).body;
  const sql = async (text: string, ...values: unknown[]) =>
    (await service.pool.query(text, values)).rows;
  const setMode = (mode: object) => service.bank.call('PATCH', '/sandbox/modes', { body: mode });

  it('finds a Pix that is not mirrored yet, and tells its refund by its three ids', async () => {
    const { nsu, endToEndId } = await receive(10);
    const { status, body } = await refund(endToEndId, 2.5);
    expect(status).toBe(200);
    const told = await read(body.nsu);
    expect(told).toMatchObject({
      originalNsu: nsu,
      amount: 2.5,
      state: 'accepted',
      endToEndId: body.proof.endToEndId,
      nsu: body.nsu,
      settlement: 'open',
      response: body,
    });
    expect(await read(told.id)).toEqual(told);
    expect(await read(told.endToEndId)).toEqual(told);
    const { body: list } = await service.call('GET', `/v1/refunds?originalNsu=${nsu}`);
    expect(list).toEqual({ data: [told], next: null });
    const [original] = await sql(`SELECT counterparty FROM statement_line WHERE nsu = $1`, nsu);
    const references = await sql(
      `SELECT r.kind, r.value FROM expected_payment_reference r
       JOIN refund USING (account_id, expected_payment_id) WHERE refund.id = $1 ORDER BY r.kind`,
      told.id,
    );
    expect(references).toEqual([
      { kind: 'counterparty', value: original.counterparty },
      { kind: 'end_to_end_id', value: told.endToEndId },
      { kind: 'idempotency_key', value: told.id },
      { kind: 'movement_id', value: body.proof.id },
      { kind: 'nsu', value: String(body.nsu) },
      { kind: 'original_end_to_end_id', value: endToEndId },
    ]);
  });

  it('gives the same request without a key one answer, and another to another', async () => {
    const { endToEndId, nsu } = await receive(10);
    const first = await refund(endToEndId, 1);
    expect((await refund(endToEndId, 1)).text).toBe(first.text);
    expect((await refund(endToEndId, 1, { description: 'again' })).body.nsu).not.toBe(
      first.body.nsu,
    );
    expect((await refund(nsu, 1, { filterBy: 'NSU' })).status).toBe(200);
    expect(await sql(`SELECT 1 FROM refund WHERE original_nsu = $1`, nsu)).toHaveLength(3);
  });

  it('answers a repeat although nothing is left of the Pix', async () => {
    const { endToEndId } = await receive(10);
    const key = randomUUID();
    const first = await refund(endToEndId, 10, { key });
    expect(first.status).toBe(200);
    expect((await refund(endToEndId, 10, { key })).text).toBe(first.text);
    expect(await codeOf(refund(endToEndId, 10, newKey()))).toEqual(exceeds);
  });

  it('lets twenty refunds that race take no more than was received', async () => {
    const { endToEndId, nsu } = await receive(5);
    await service.sync();
    await service.bank.warmUp();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => refund(endToEndId, 0.7, newKey())),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ body }) => body.code === 'refund_exceeds_original')).toHaveLength(13);
    expect(await sql(`SELECT 1 FROM refund WHERE original_nsu = $1`, nsu)).toHaveLength(7);
    expect(await codeOf(refund(endToEndId, 0.11, newKey()))).toEqual(exceeds);
  });

  it('counts a refund once, by its record before its line comes and by its line after', async () => {
    const { endToEndId } = await receive(10);
    expect((await refund(endToEndId, 4, newKey())).status).toBe(200);
    expect((await refund(endToEndId, 6.01, newKey())).status).toBe(422);
    await service.sync();
    expect((await refund(endToEndId, 6.01, newKey())).status).toBe(422);
    expect((await refund(endToEndId, 6, newKey())).status).toBe(200);
  });

  it('counts what the bank itself took back', async () => {
    const { endToEndId } = await receive(10);
    await service.bank.call('POST', '/sandbox/pix/med', { body: { endToEndId, amount: 4 } });
    await service.sync();
    expect((await refund(endToEndId, 6.01, newKey())).body.code).toBe('refund_exceeds_original');
    expect((await refund(endToEndId, 6, newKey())).status).toBe(200);
  });

  it('counts a refund whose answer was lost, until its line is matched to it', async () => {
    const { endToEndId } = await receive(10);
    await service.sync();
    const fault = { endpoint: 'refunds', kind: 'reset-after-effect', times: 1 };
    await service.bank.call('POST', '/sandbox/faults', { body: fault });
    const { status, body: operation } = await refund(endToEndId, 4, newKey());
    expect([status, operation.state]).toEqual([202, 'unknown']);
    expect(await read(operation.id)).toMatchObject({ state: 'requested', nsu: null });
    expect((await refund(endToEndId, 6.01, newKey())).body.code).toBe('refund_exceeds_original');
    await service.sync();
    // Its line, as long as nobody says that it is its line, counts beside it: the careful way.
    expect((await refund(endToEndId, 2.01, newKey())).body.code).toBe('refund_exceeds_original');
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
    expect((await refund(endToEndId, 6, newKey())).status).toBe(200);
    // The journal's verdict, by the statement's evidence alone.
    const { kind } = service.application.get(RefundsService, { strict: false }) as unknown as {
      kind: OperationKind;
    };
    const { accountId, database } = service;
    await database.transaction((tx) =>
      kind.onSucceeded!(tx, { ...operation, accountId } as never, { answer: null }),
    );
    expect(await read(operation.id)).toMatchObject({
      state: 'accepted',
      settlement: 'settled',
      ...line,
    });
  });

  it.each(['present', 'absent'])(
    'gives back the room of a refund that failed, its original id %s on the line',
    async (lineOriginalId) => {
      await setMode({ lineOriginalId });
      const { endToEndId } = await receive(10);
      const fault = { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 1 };
      await service.bank.call('POST', '/sandbox/faults', { body: fault });
      const { body } = await refund(endToEndId, 10, newKey());
      await until('the money has come back', async () => {
        await service.sync();
        const id = body.proof.endToEndId;
        const lines = await sql(`SELECT 1 FROM statement_line WHERE end_to_end_id = $1`, id);
        return lines.length === 2;
      });
      expect((await refund(endToEndId, 10.01, newKey())).status).toBe(422);
      expect((await refund(endToEndId, 10, newKey())).status).toBe(200);
      await setMode({ lineOriginalId: 'present' });
    },
  );

  it('is frozen while a refund to the payer names no Pix, until it is matched', async () => {
    const [one, another] = [await receive(10), await receive(10)];
    const other = await receiveFromWithin(10);
    await setMode({ lineOriginalId: 'absent' });
    // Our own refund is no stranger, although its line names no Pix either.
    const ours = await refund(one.endToEndId, 1, newKey());
    await service.sync();
    expect((await refund(one.endToEndId, 1, newKey())).status).toBe(200);
    const body = { endToEndId: one.endToEndId, amount: 3 };
    await service.bank.call('POST', '/sandbox/pix/med', { body });
    await service.sync();
    await setMode({ lineOriginalId: 'present' });
    for (const { endToEndId } of [one, another])
      expect(await codeOf(refund(endToEndId, 1, newKey()))).toEqual([422, 'refund_frozen']);
    // Another payer's Pix is not meant, nor one that came later.
    const later = await receive(10);
    for (const { endToEndId } of [other, later])
      expect((await refund(endToEndId, 1, newKey())).status).toBe(200);
    const [{ id }] = await sql(
      `SELECT expected_payment_id AS id FROM refund WHERE nsu = $1`,
      ours.body.nsu,
    );
    const [{ nsu }] = await sql(
      `SELECT nsu::int FROM statement_line WHERE amount_cents = 300 AND original_end_to_end_id IS NULL
         AND type_name = 'DEBIT_PIX_REFUND'`,
    );
    await service.match(nsu, id);
    expect((await refund(another.endToEndId, 1, newKey())).status).toBe(200);
    // Matched by hand to a refund of that Pix, it counts as what went back of it.
    expect((await refund(one.endToEndId, 5.01, newKey())).body.code).toBe(
      'refund_exceeds_original',
    );
  });

  it('refuses what is no received Pix, what is several, and what is nobody’s', async () => {
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

  it('stores nothing of what it refuses, and leaves the key free', async () => {
    const { endToEndId } = await receive(10);
    const [before] = await sql(`SELECT count(*) FROM operation`);
    const key = randomUUID();
    expect((await refund(endToEndId, 11, { key })).status).toBe(422);
    expect(await sql(`SELECT count(*) FROM operation`)).toEqual([before]);
    expect((await refund(endToEndId, 10, { key })).status).toBe(200);
  });

  it('closes with the ninetieth day after the receipt, for new refunds', async () => {
    const { endToEndId } = await receive(10);
    const key = randomUUID();
    const first = await refund(endToEndId, 1, { key });
    const { body } = await service.bank.call('GET', '/sandbox/clock');
    const day = new Date(new Date(body.now).getTime() - 3 * 3_600_000).toISOString().slice(0, 10);
    // Midnight in São Paulo with which the ninetieth day ends.
    const end = new Date(new Date(`${day}T03:00:00Z`).getTime() + 91 * 86_400_000);
    const setClock = async (now: Date) => {
      await service.bank.call('POST', '/sandbox/clock', { body: { now: now.toISOString() } });
      await service.sync();
    };
    await setClock(new Date(end.getTime() - 60_000));
    expect((await refund(endToEndId, 1, newKey())).status).toBe(200);
    await setClock(new Date(end.getTime() + 1_000));
    const [before] = await sql(`SELECT count(*) FROM operation`);
    expect(await codeOf(refund(endToEndId, 1, newKey()))).toEqual([422, 'refund_window_closed']);
    expect(await sql(`SELECT count(*) FROM operation`)).toEqual([before]);
    expect((await refund(endToEndId, 1, { key })).text).toBe(first.text);
  });
});
