// Metadata of requests: kept from the bank, shown to the business system, searchable, and deleted
// with the bodies of its operation.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { maxFoundByMetadata } from '../../../src/statement/expected-payments/metadata.queries.js';
import { BodyRetention } from '../../../src/outbound/operations/body-retention.service.js';
import { ReconciliationService } from '../../../src/reconciliation/apply/reconciliation.service.js';
import { StatementSync } from '../../../src/statement/lines/statement-sync.service.js';
import { sandboxUnderTest } from '../../contract/bank-under-test.js';
import { newKeyHeader, slip } from '../../contract/samples.js';
import { expectDeclaredEvents } from '../../support/declared-events.js';
import { testDatabase, type TestDatabase } from '../../support/postgres.js';
import { recordingBank, type RecordingBank } from '../../support/recording-bank.js';
import { serviceProcess, type ServiceProcess } from '../../support/service-application.js';

const metadata = { orderId: 'A-123', 'cost.centre': 'loja 7: norte' };
let sandbox: Awaited<ReturnType<typeof sandboxUnderTest>>;
let bank: RecordingBank;
let test: TestDatabase;
let service: ServiceProcess;
let accountId: number;

beforeAll(async () => {
  sandbox = await sandboxUnderTest();
  bank = await recordingBank(await sandbox.application.getUrl());
  test = await testDatabase('service');
  service = await serviceProcess(test, bank.url);
  accountId = (await service.database.prisma.bankAccount.findFirstOrThrow()).id;
});
afterAll(async () => {
  await expectDeclaredEvents(test.pool, ['charge.paid', 'transfer.settled', 'refund.settled']);
  await service.stop();
  await test.drop();
  bank.close();
  await sandbox.stop();
});

const post = (path: string, body: unknown, headers: Record<string, string> = newKeyHeader()) =>
  service.call('POST', path, { body: body as object, headers });
const get = async (path: string) => (await service.call('GET', path)).body;
const reconcile = async () => {
  await service.application.get(StatementSync, { strict: false }).sync(accountId);
  await service.application.get(ReconciliationService, { strict: false }).reconcile({ accountId });
};
const createSlip = async (fields: object = {}) => {
  const request = { ...slip(), ...fields };
  const response = await post('/baas/v1/charges', request, {});
  expect([response.status, response.body.errors]).toEqual([200, undefined]);
  return { request, response };
};
const internal = (fields: object = {}) => ({
  ...{ amount: 1.5, beneficiaryAccount: '1000002', externalId: randomUUID() },
  ...fields,
});
const listEvents = async (type: string) =>
  (await get(`/v1/events?type=${type}&limit=100`)).data as { data: Record<string, unknown> }[];

describe('metadata', () => {
  it('is kept out of the exact bytes that the bank gets', async () => {
    const { metadata: _, ...plain } = slip() as Record<string, unknown>;
    await post('/baas/v1/charges', { ...plain, metadata }, {});
    await post('/baas/api/v2/transfers', internal({ metadata: { orderId: 'secret-order' } }));
    await post('/baas/v1/transfers/batch', [
      { amount: 1, beneficiaryAccountNumber: '1000002', metadata: { orderId: 'secret-item' } },
    ]);
    await post('/baas/api/v2/pix/qrcode/static', {
      ...{ type: 'PIX_STATIC', correlationId: randomUUID(), amount: 2, metadata },
    });
    expect(bank.bodies).toContain(JSON.stringify(plain));
    expect(bank.bodies.length).toBeGreaterThanOrEqual(4);
    for (const body of bank.bodies) expect(body).not.toMatch(/metadata|A-123|secret|loja/);
  });

  it('is refused by requests that would pass it to the bank', async () => {
    const { request } = await createSlip();
    const requests: [string, string, object][] = [
      ['PATCH', `/baas/v1/charges/${request.correlationId}`, { dueDate: '2030-01-01' }],
      ['POST', '/baas/api/v2/pix/dict/payment-initialization', { key: '11222333000181' }],
    ];
    for (const [method, path, body] of requests) {
      const answer = await service.call(method, path, { body: { ...body, metadata } });
      expect([path, answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([
        ...[path, 400],
        ['$.metadata'],
      ]);
      expect((await service.call(method, path, { body })).status).toBe(200);
    }
    const { status } = await service.call('GET', '/v1/charges?metadata=orderId:%00');
    expect(status).toBe(400);
  });

  it('stands in the response, in its replay, and in every view of the charge', async () => {
    const { request, response } = await createSlip({ metadata });
    expect(response.body.metadata).toEqual(metadata);
    const repeated = await post('/baas/v1/charges', request, {});
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body).toEqual(response.body);
    const charge = await get(`/v1/charges/${request.correlationId}`);
    expect(charge.metadata).toEqual(metadata);
    expect((await get(`/v1/operations/${charge.operationId}`)).metadata).toEqual(metadata);
    const [expected] = (await get(`/v1/expected-payments?operationId=${charge.operationId}`)).data;
    expect(expected.metadata).toEqual(metadata);
  });

  it('is null, and changes nothing in the response, where a request has none', async () => {
    const { request, response } = await createSlip();
    expect(response.body).not.toHaveProperty('metadata');
    const { body } = await createSlip({ metadata: {} }).then(({ response: one }) => one);
    expect(body).not.toHaveProperty('metadata');
    expect((await get(`/v1/charges/${request.correlationId}`)).metadata).toBeNull();
  });

  it('is a part of the request: a repeat with other metadata is another request', async () => {
    const { request } = await createSlip({ metadata });
    const other = await post('/baas/v1/charges', { ...request, metadata: { orderId: 'B' } }, {});
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    const without = await post('/baas/v1/charges', { ...request, metadata: undefined }, {});
    expect(without.status).toBe(422);
    const reordered = Object.fromEntries(Object.entries(metadata).reverse());
    const same = await post('/baas/v1/charges', { ...request, metadata: reordered }, {});
    expect(same.status).toBe(200);
  });

  it.each([
    [{ 'order id': '1' }, '$.metadata.order id'],
    [{ [`k${'x'.repeat(40)}`]: '1' }, `$.metadata.k${'x'.repeat(40)}`],
    [{ orderId: 7 }, '$.metadata.orderId'],
    [{ orderId: 'x'.repeat(501) }, '$.metadata.orderId'],
    [{ orderId: 'a\nb' }, '$.metadata.orderId'],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, ''])), '$.metadata'],
    ['text', '$.metadata'],
    [['text'], '$.metadata'],
    [JSON.parse('{"__proto__": "text"}'), '$.metadata.__proto__'],
  ])('is refused by its JSON path: %#', async (wrong, path) => {
    const { status, body } = await post('/baas/v1/charges', { ...slip(), metadata: wrong }, {});
    expect([status, Object.keys(body.errors ?? {})]).toEqual([400, [path]]);
  });

  it('has up to 20 keys and texts of up to 500 characters', async () => {
    const entries = Array.from({ length: 20 }, (_, n) => [`Key_${n}.-`, 'é'.repeat(500)]);
    const most = Object.fromEntries(entries) as object;
    const { response } = await createSlip({ metadata: most });
    expect(response.body.metadata).toEqual(most);
  });

  it('belongs to each item of a batch', async () => {
    const item = { amount: 1, beneficiaryAccountNumber: '1000002' };
    const items = [
      { ...item, externalId: randomUUID(), metadata: { invoice: 'one' } },
      { ...item, externalId: randomUUID(), amount: 2 },
      { ...item, externalId: randomUUID(), amount: 3, metadata: { invoice: 'three' } },
    ];
    const headers = newKeyHeader();
    const first = await post('/baas/v1/transfers/batch', items, headers);
    expect(first.status).toBe(200);
    const shown = (first.body as unknown as { metadata?: object }[]).map((one) => one.metadata);
    expect(shown).toEqual([{ invoice: 'one' }, undefined, { invoice: 'three' }]);
    const again = await post('/baas/v1/transfers/batch', items, headers);
    expect(again.body).toEqual(first.body);
    const { data } = await get('/v1/transfers?metadata=invoice:three');
    expect(data).toMatchObject([{ externalId: items[2]?.externalId, amount: 3 }]);
    expect(data[0].metadata).toEqual({ invoice: 'three' });
    const swapped = [{ ...items[0], metadata: { invoice: 'three' } }, items[1], items[2]];
    expect((await post('/baas/v1/transfers/batch', swapped, headers)).status).toBe(422);
  });

  it('finds charges, transfers, operations, expected payments and transactions', async () => {
    const orderId = `find:${randomUUID()}`;
    const { request } = await createSlip({ metadata: { orderId } });
    const transfer = await post('/baas/api/v2/transfers', internal({ metadata: { orderId } }));
    expect(transfer.body.metadata).toEqual({ orderId });
    await createSlip({ metadata: { orderId: `${orderId} longer`, other: orderId } });
    await service.call('POST', `/baas/v1/charges/${request.correlationId}/pay`, {});
    await reconcile();
    const query = `metadata=${encodeURIComponent(`orderId:${orderId}`)}`;
    const found = async (list: string) => (await get(`/v1/${list}?${query}`)).data as object[];
    expect(await found('charges')).toMatchObject([{ correlationId: request.correlationId }]);
    expect(await found('transfers')).toHaveLength(1);
    expect(await found('operations')).toMatchObject([
      { kind: 'create_transfer', metadata: { orderId } },
      { kind: 'create_charge', metadata: { orderId } },
    ]);
    expect(await found('expected-payments')).toHaveLength(2);
    const lines = (await found('transactions')) as { type: { isCredit: boolean } }[];
    expect(lines.map(({ type }) => type.isCredit).sort()).toEqual([false, true]);
    expect((await get(`/v1/transactions?${query}&isCredit=true`)).data).toHaveLength(1);
    expect((await get(`/v1/operations?${query}&kind=create_charge`)).data).toHaveLength(1);
    const { status } = await service.call('GET', '/v1/charges?metadata=orderId');
    expect(status).toBe(400);
  });

  it('stands in events, and a refund names its charge and its original', async () => {
    const { request } = await createSlip({ type: 'BANKSLIP_PIX', metadata });
    const { correlationId } = request;
    const paid = await sandbox.call('POST', '/sandbox/pix/received', { body: { correlationId } });
    const { endToEndId, nsu } = paid.body;
    await reconcile();
    const refundRequest = { amount: 0.5, metadata: { returnId: 'R-1' } };
    const path = `/baas/api/v1/transactions/${endToEndId}/refund?filterBy=END_TO_END_ID`;
    const refund = await service.call('PUT', path, { body: refundRequest });
    expect([refund.status, refund.body.metadata]).toEqual([200, { returnId: 'R-1' }]);
    expect((await service.call('PUT', path, { body: refundRequest })).body).toEqual(refund.body);
    await reconcile();
    const paidEvents = await listEvents('charge.paid');
    expect(paidEvents.find(({ data }) => data.correlationId === correlationId)?.data).toMatchObject(
      { metadata, endToEndId },
    );
    const [settled] = await listEvents('refund.settled');
    const [view] = (await get(`/v1/refunds?originalNsu=${nsu}`)).data;
    expect(view.metadata).toEqual({ returnId: 'R-1' });
    expect(settled?.data).toMatchObject({
      ...{ refundId: view.id, operationId: view.id, correlationId, originalNsu: nsu },
      ...{ originalEndToEndId: endToEndId, metadata: { returnId: 'R-1' } },
    });
    const ofCharge = await listEvents('charge.partially_refunded');
    expect(ofCharge.map(({ data }) => data)).toMatchObject([
      { correlationId, refundId: view.id, originalNsu: nsu, amount: 0.5, metadata },
    ]);
  });

  it('names a request that ended while nobody waited, in operation events', async () => {
    const headers = { ...newKeyHeader(), Prefer: 'respond-async' };
    const request = { ...slip(), metadata };
    const accepted = await post('/baas/v1/charges', request, headers);
    expect([accepted.status, accepted.body.metadata]).toEqual([202, metadata]);
    const operation = await service.database.prisma.operation.findFirstOrThrow({
      where: { accountId, id: accepted.body.id },
    });
    const { OperationSender } =
      await import('../../../src/outbound/operations/operation-sender.service.js');
    await service.application.get(OperationSender, { strict: false }).send(operation, 'received');
    const [event] = await listEvents('operation.succeeded');
    expect(event?.data).toMatchObject({
      ...{ operationId: operation.id, correlationId: request.correlationId, metadata },
      idempotencyKey: headers.IdempotencyKey,
    });
  });

  it('is deleted with the bodies of its operation', async () => {
    const { request } = await createSlip({ metadata: { orderId: 'old' } });
    await test.pool.query(`UPDATE operation SET ended_at = ended_at - interval '10 years'`);
    await service.application.get(BodyRetention, { strict: false }).deleteOldBodies();
    expect((await get(`/v1/charges/${request.correlationId}`)).metadata).toBeNull();
    expect((await get('/v1/charges?metadata=orderId:old')).data).toEqual([]);
    const { rows } = await test.pool.query('SELECT 1 FROM expected_payment_metadata');
    expect(rows).toEqual([]);
  });

  it('is found by an index among a million texts, and a text that too many have is refused', async () => {
    await createSlip({ metadata: { orderId: 'needle', channel: 'web' } });
    // Other payments that share a text: foreign keys are off while they are inserted.
    await test.pool.query(`
      BEGIN;
      ALTER TABLE expected_payment_metadata DISABLE TRIGGER ALL;
      INSERT INTO expected_payment_metadata (account_id, expected_payment_id, key, value)
      SELECT ${accountId}, gen_random_uuid(), 'orderId', 'order ' || n
      FROM generate_series(1, 1000000) n;
      ALTER TABLE expected_payment_metadata ENABLE TRIGGER ALL;
      COMMIT;`);
    const { rows } = await test.pool.query(`
      EXPLAIN (ANALYZE, FORMAT JSON) SELECT expected_payment_id FROM expected_payment_metadata
      WHERE account_id = ${accountId} AND key = 'orderId' AND value = 'needle'
      ORDER BY expected_payment_id DESC LIMIT ${maxFoundByMetadata + 1}`);
    const plan = JSON.stringify(rows[0]['QUERY PLAN']);
    expect(plan).toContain('expected_payment_metadata_search');
    expect(plan).not.toMatch(/Seq Scan|"Sort"/);
    expect((await get('/v1/charges?metadata=orderId:needle')).data).toHaveLength(1);
    await test.pool.query(`
      UPDATE expected_payment_metadata SET value = 'same'
      WHERE value LIKE 'order 1____' OR value = 'order 2'`);
    const { expectedPayment } = await service.database.prisma.charge.findFirstOrThrow({
      include: { expectedPayment: true },
    });
    await test.pool.query(`
      BEGIN;
      ALTER TABLE expected_payment_metadata DISABLE TRIGGER ALL;
      INSERT INTO expected_payment_metadata VALUES
        (${accountId}, '${expectedPayment.id}', 'orderId', 'same');
      COMMIT;`);
    const { status, body } = await service.call('GET', '/v1/charges?metadata=orderId:same');
    expect([status, body.code]).toEqual([422, 'metadata_too_common']);
  }, 120_000);
});
