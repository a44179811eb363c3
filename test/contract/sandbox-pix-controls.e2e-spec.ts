// The control plane for sent money: registration of Pix keys, returns of sent Pix and their
// webhooks.
import { randomUUID } from 'node:crypto';
import { pixFailureCodes } from '../../src/sandbox/faults/pix-failures.js';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import { eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';
import {
  keyTransfer,
  internalTransfer,
  manualTransfer,
  transferCalls,
} from './transfer-samples.js';
import { WebhookConsumer } from './webhook-consumer.js';

const ownApiKey = 'sandbox-dev-key';
const otherApiKey = 'sandbox-dev-key-2';

let bank: SandboxUnderTest;
let consumer: WebhookConsumer;
beforeAll(async () => {
  bank = await sandboxUnderTest();
  consumer = await WebhookConsumer.listen();
  for (const type of ['PIX_PAYMENT_UPDATED', 'PIX_REFUNDED'])
    await consumer.register(bank, type, ownApiKey);
  await consumer.register(bank, 'PIX_RECEIVED', otherApiKey);
});
afterAll(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  consumer.close();
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const { newEndToEndId, get, lookUp, send } = transferCalls(() => bank);
const post = (path: string, body: unknown) => bank.call('POST', path, { body });
const registerKey = (body: unknown) => post('/sandbox/dict/keys', body);
const returnPix = (body: unknown) => post('/sandbox/pix/returned', body);
const waitUntilFinal = (id: string) =>
  eventually(async () => {
    const { body } = await get(id);
    expect(body.status).toMatch(/^PIX_(EFFECTIVE|ERROR)$/);
    return body;
  });

describe('POST /sandbox/dict/keys', () => {
  it('registers a key of an account, which can then be looked up and listed', async () => {
    const key = randomUUID();
    const { status, body } = await registerKey({ key: key.toUpperCase(), account: '1000002' });
    expect(status).toBe(200);
    expect(body).toEqual({
      key,
      holder: { name: 'Maria Aparecida da Silva', document: '12345678909' },
    });
    expect((await lookUp({ key })).body.beneficiary.number).toBe('1000002');
    const { dictKeys } = (await bank.call('GET', '/sandbox/fixtures')).body;
    expect(dictKeys).toContainEqual(body);
  });

  it('registers a key of another institution’s customer with the given details', async () => {
    const holder = { name: 'Fábrica Ltda', document: '12.ABC.345/01DE-35' };
    const participant = { name: 'Outro Banco', ispb: '1234567A' };
    const details = { number: '42', branch: '7', type: 'SAVING' };
    const { body } = await registerKey({
      key: '+55 11 98888-7777',
      holder,
      participant,
      ...details,
    });
    expect(body).toEqual({
      key: '+5511988887777',
      holder: { name: 'Fábrica Ltda', document: '12ABC34501DE35' },
    });
    const lookup = (await lookUp({ key: body.key, holderDocument: '12abc34501de35' })).body;
    expect(lookup).toMatchObject({
      ...{ key: body.key, keyBelongsHolder: true },
      beneficiary: {
        ...{ ...details, participant },
        holder: { name: holder.name, document: '**.ABC.345/01DE-**', type: 'LEGAL' },
      },
    });
    const sent = (await send(keyTransfer(lookup.endToEndId))).body;
    expect(sent.beneficiary).toMatchObject({ ...details, participant });
    expect(sent.beneficiary.holder.document).toBe('12ABC34501DE35');
    expect((await bank.call('GET', '/sandbox/fixtures')).body.dictKeys).toContainEqual(body);
  });

  it('refuses a registered key, an invalid key and other invalid fields', async () => {
    const key = `k-${Date.now()}@test.example`;
    expect((await registerKey({ key })).status).toBe(200);
    expectError(await registerKey({ key: key.toUpperCase() }), 409);
    expectError(await registerKey({ key: 'no key' }), 400, '$.key');
    expectError(await registerKey({}), 400, '$.key');
    const fresh = () => ({ key: randomUUID() });
    expectError(await registerKey({ ...fresh(), account: '9999999' }), 404);
    expectError(await registerKey({ ...fresh(), account: 'spi' }), 404);
    expectError(await registerKey({ ...fresh(), type: 'X' }), 400, '$.type');
    const document = '11111111111';
    expectError(await registerKey({ ...fresh(), holder: { document } }), 400, '$.holder.document');
    const participant = { ispb: '123' };
    expectError(await registerKey({ ...fresh(), participant }), 400, '$.participant.ispb');
  });
});

describe('the webhooks of a sent Pix', () => {
  it('report its end to the payer with its IdempotencyKey, and its receipt to the beneficiary', async () => {
    const headers = newKeyHeader();
    const sent = (await send(keyTransfer(await newEndToEndId()), headers)).body;
    await waitUntilFinal(sent.id);
    const update = await consumer.find('PIX_PAYMENT_UPDATED', ownApiKey, sent.endToEndId);
    const { amount, createdAt, description, payer, beneficiary } = sent;
    expect(update).toEqual({
      ...{ eventType: 'PIX_PAYMENT_EFFECTIVE', endToEndId: sent.endToEndId },
      ...{ idempotencyKey: headers.IdempotencyKey, status: 'PIX_EFFECTIVE', amount, createdAt },
      ...{ description, payer, beneficiary },
    });
    const receipt = await consumer.find('PIX_RECEIVED', otherApiKey, sent.endToEndId);
    expect(receipt).toMatchObject({
      ...{ eventType: 'PIX_RECEIVED', endToEndId: sent.endToEndId, amount },
      proof: { payer, beneficiary, status: 'PIX_EFFECTIVE' },
    });
  });

  it('report its failure', async () => {
    bank.application.get(Faults).add({
      ...{ endpoint: 'transfers', kind: 'async-error', times: 1, probability: null, seed: 1 },
      delayMs: null,
    } as const);
    const sent = (await send(manualTransfer())).body;
    const update = await consumer.find('PIX_PAYMENT_UPDATED', ownApiKey, sent.endToEndId);
    expect(update).toMatchObject({
      ...{ eventType: 'PIX_PAYMENT_ERROR', status: 'PIX_ERROR', error: { code: 'AC06' } },
    });
    expectError(await returnPix({ endToEndId: sent.endToEndId }), 422);
  });

  it('fail with each code of the SPI: by the number of the account, and by a fault', async () => {
    for (const code of pixFailureCodes) {
      const transfer = manualTransfer();
      const toAccount = { ...transfer, beneficiary: { ...transfer.beneficiary, number: code } };
      const byAccount = (await send(toAccount)).body;
      const fault = { endpoint: 'transfers', kind: 'async-error', times: 1, code };
      expect((await bank.call('POST', '/sandbox/faults', { body: fault })).status).toBe(200);
      const byFault = (await send(transfer)).body;
      for (const { id } of [byAccount, byFault]) {
        const ended = await waitUntilFinal(id);
        expect(ended).toMatchObject({ status: 'PIX_ERROR', error: { code } });
      }
    }
    const unknown = { endpoint: 'transfers', kind: 'async-error', code: 'XX00' };
    expectError(await bank.call('POST', '/sandbox/faults', { body: unknown }), 400, '$.code');
  }, 60_000);
});

describe('POST /sandbox/pix/returned', () => {
  it('returns a part, then the rest, and never more', async () => {
    const sent = (await send(manualTransfer({ amount: 10 }))).body;
    const original = { endToEndId: sent.endToEndId };
    expect((await returnPix(original)).body.code).toBe('pix_not_effective');
    await waitUntilFinal(sent.id);
    const { status, body } = await returnPix({ ...original, amount: 4, reason: 'Troca' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ account: '1000001', amount: 4, isCredit: true, type: 'CREDIT_PIX_REFUND' },
      endToEndId: expect.stringMatching(/^D88888888\d{12}[0-9A-Za-z]{11}$/),
      originalEndToEndId: sent.endToEndId,
    });
    expectError(await returnPix({ ...original, amount: 6.01 }), 422);
    const parallel = await Promise.all(Array.from({ length: 8 }, () => returnPix(original)));
    expect(parallel.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await returnPix(original)).body.code).toBe('return_exceeds_pix');
    const refunded = await consumer.find('PIX_REFUNDED', ownApiKey, body.endToEndId);
    expect(refunded).toEqual({
      ...{ eventType: 'PIX_REFUNDED', endToEndId: body.endToEndId, amount: 4 },
      ...{ originalEndToEndId: sent.endToEndId, refundCode: 'MD06' },
      bankAccount: { branch: '0001', number: '1000001' },
      ...{ reasonRefund: 'Troca', idempotencyKey: expect.any(String), externalId: null },
      createdAt: body.createdAt,
      proof: {
        ...{ endToEndId: body.endToEndId, originalEndToEndId: sent.endToEndId, amount: 4 },
        ...{ status: 'PIX_EFFECTIVE', operationType: 'CREDIT_REFUND', createdAt: body.createdAt },
        ...{ finishedAt: body.createdAt, payer: sent.beneficiary, beneficiary: sent.payer },
      },
    });
  });

  it('debits a beneficiary at this bank', async () => {
    const sent = (await send(keyTransfer(await newEndToEndId(), { amount: 3 }))).body;
    await waitUntilFinal(sent.id);
    const { body } = await returnPix({ endToEndId: sent.endToEndId });
    const { movements } = (await bank.call('GET', '/sandbox/ledger?account=1000002')).body;
    expect(movements.at(-1)).toMatchObject({
      ...{ type: 'DEBIT_PIX_REFUND', amount: 3, isCredit: false, endToEndId: body.endToEndId },
      originalEndToEndId: sent.endToEndId,
    });
  });

  it('returns only Pix that the account sent', async () => {
    const sent = (await send(manualTransfer())).body;
    await waitUntilFinal(sent.id);
    const { endToEndId: id } = sent;
    expectError(await returnPix({ endToEndId: id, account: '1000002' }), 404);
    expectError(await returnPix({ endToEndId: 'E1' }), 404);
    expectError(await returnPix({ endToEndId: (await send(internalTransfer())).body.id }), 404);
    expectError(await returnPix({}), 400, '$.endToEndId');
    expectError(await returnPix({ endToEndId: id, amount: 0 }), 400, '$.amount');
    expect((await returnPix({ endToEndId: id, account: '1000001' })).status).toBe(200);
  });
});
