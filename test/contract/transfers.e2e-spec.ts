import { randomUUID } from 'node:crypto';
import { bankUnderTest, eventually, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';
import {
  keyTransfer,
  internalTransfer,
  knownBeneficiaries,
  manualTransfer,
  partyShape,
  transferCalls,
} from './transfer-samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const { newEndToEndId, lookUp, send } = transferCalls(() => bank);

const guid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
const pixStatus = /^PIX_(PROCESSING|WAITING_SPI_RESPONSE|EFFECTIVE)$/;
const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);

/** Waits until the statement shows the debit of a Pix, and returns its line. */
const findDebit = (id: string) =>
  eventually(async () => {
    const { body } = await bank.call('GET', `/baas/api/v2/transactions?endToEndId=${id}`);
    expect(body).toHaveLength(1);
    return body[0];
  });

describe('POST /baas/api/v2/transfers, by key', () => {
  it('sends a Pix with the endToEndId of a look-up, and debits the amount', async () => {
    const lookup = (await lookUp()).body;
    const request = keyTransfer(lookup.endToEndId);
    const { status, body } = await send(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: guid,
      endToEndId: lookup.endToEndId,
      status: expect.stringMatching(pixStatus),
      type: 'PIX_KEY',
      amount: 1.25,
      createdAt: timestamp,
      description: 'Pedido 42',
      payer: partyShape,
      beneficiary: partyShape,
    });
    expect(body.beneficiary.holder.name).toBe(lookup.beneficiary.holder.name);
    const line = await findDebit(lookup.endToEndId);
    expect(line).toMatchObject({
      amount: 1.25,
      type: { name: 'DEBIT_PIX', isCredit: false },
      proof: {
        endToEndId: lookup.endToEndId,
        amount: 1.25,
        payer: partyShape,
        beneficiary: partyShape,
      },
    });
    if (body.transactionNsu) expect(line.nsu).toBe(body.transactionNsu);
  });

  it('executes one transfer per look-up', async () => {
    const id = await newEndToEndId();
    const responses = await Promise.all([
      send(keyTransfer(id)),
      send(keyTransfer(id)),
      send(keyTransfer(id)),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    expectError(await send(keyTransfer(id)), 422);
  });

  it('rejects an endToEndId that was not returned to this account', async () => {
    expectError(await send(keyTransfer('E99999999202601010000abcdefghijk')), 422);
    expectError(await send(keyTransfer('anything')), 422);
    if (!bank.otherApiKey) return;
    const { body } = await lookUp({ key: knownBeneficiaries.dictKey }, bank.otherApiKey);
    expectError(await send(keyTransfer(body.endToEndId)), 422);
  });

  it.each([
    ['endToEndId', { endToEndId: undefined }],
    ['endToEndId', { endToEndId: 7 }],
    ['initiationType', { initiationType: undefined }],
    ['initiationType', { initiationType: 'KEYS' }],
    ['amount', { amount: undefined }],
    ['amount', { amount: 0 }],
    ['amount', { amount: '1.25' }],
    ['description', { description: 5 }],
  ])('rejects a wrong %s: %p', async (field, changes) => {
    expectError(await send(keyTransfer(await newEndToEndId(), changes)), 400, `$.${field}`);
  });
});

describe('POST /baas/api/v2/transfers, by account data', () => {
  it('sends a Pix without a look-up', async () => {
    const { status, body } = await send(manualTransfer());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: guid,
      endToEndId: expect.stringMatching(/^E/),
      status: expect.stringMatching(pixStatus),
      type: 'PIX_MANUAL',
      amount: 2.5,
      createdAt: timestamp,
      description: 'Nota 7',
      payer: partyShape,
      beneficiary: { number: '7654321', holder: { document: '52998224725', type: 'NATURAL' } },
    });
    expect(await findDebit(body.endToEndId)).toMatchObject({ amount: 2.5 });
  });

  const { beneficiary } = manualTransfer();
  const { holder } = beneficiary;
  it.each<[string, object]>([
    ['number', { number: undefined }],
    ['branch', { branch: undefined }],
    ['type', { type: undefined }],
    ['type', { type: 'CHECKING' }],
    ['participantIspb', { participantIspb: undefined }],
    ['participantIspb', { participantIspb: '1234567' }],
    ['participantIspb', { participantIspb: '1234567a' }],
    ['holder', { holder: undefined }],
    ['holder.document', { holder: { ...holder, document: undefined } }],
    ['holder.document', { holder: { ...holder, document: '52998224724' } }],
    ['holder.name', { holder: { ...holder, name: '' } }],
    ['holder.type', { holder: { ...holder, type: 'OTHER' } }],
    ['holder.type', { holder: { ...holder, type: 'LEGAL' } }],
  ])('rejects a wrong %s: %p', async (field, changes) => {
    const request = manualTransfer({ beneficiary: { ...beneficiary, ...changes } });
    expectError(await send(request), 400, `$.beneficiary.${field}`);
  });
});

describe('POST /baas/api/v2/transfers, between accounts', () => {
  it('is effective at once, with its externalId and without an endToEndId', async () => {
    const request = internalTransfer();
    const { status, body } = await send(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: guid,
      externalId: request.externalId,
      transactionNsu: expect.any(Number),
      status: 'EFFECTIVE',
      type: 'INTERNAL',
      amount: 0.75,
      createdAt: timestamp,
      description: 'Repasse',
      payer: partyShape,
      beneficiary: { ...partyShape, number: knownBeneficiaries.beneficiaryAccount },
    });
    expect(body.endToEndId ?? null).toBeNull();
    const [line] = await eventually(async () => {
      const path = `/baas/api/v2/transactions?nsu=${body.transactionNsu}`;
      const lines = (await bank.call('GET', path)).body;
      expect(lines).toHaveLength(1);
      return lines;
    });
    expect(line).toMatchObject({ amount: 0.75, type: { name: 'DEBIT_TRANSFER_INTERNAL' } });
  });

  it('rejects an unknown account, and the payer’s own account', async () => {
    const { body } = await send(internalTransfer());
    expectError(await send(internalTransfer({ beneficiaryAccount: body.payer.number })), 422);
    expectError(await send(internalTransfer({ beneficiaryAccount: '0000000' })), 422);
  });

  it.each([
    ['beneficiaryAccount', { beneficiaryAccount: ' ' }],
    ['beneficiaryAccount', { beneficiaryAccount: 1000002 }],
    ['externalId', { externalId: ' with spaces ' }],
    ['amount', { amount: 0.001 }],
    ['amount', { amount: -1 }],
  ])('rejects a wrong %s: %p', async (field, changes) =>
    expectError(await send(internalTransfer(changes)), 400, `$.${field}`),
  );
});

describe('POST /baas/api/v2/transfers', () => {
  it('executes one transfer per IdempotencyKey, and returns the same response to each repeat', async () => {
    const [request, headers] = [internalTransfer(), newKeyHeader()];
    const responses = await Promise.all(Array.from({ length: 20 }, () => send(request, headers)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expectError(await send({ ...request, amount: 0.76 }, headers), 422);
  });

  it('rejects a request without IdempotencyKey', async () =>
    expectError(await send(internalTransfer(), {}), 400, 'IdempotencyKey'));

  it('rejects an amount above the balance', async () => {
    expectError(await send(internalTransfer({ amount: 99_999_999_999 })), 422);
    expectError(await send(manualTransfer({ amount: 99_999_999_999 })), 422);
  });

  it('rejects a request without a shape, and a request with two shapes', async () => {
    expectError(await send({ amount: 1, description: 'x' }), 400, '$');
    expectError(
      await send(manualTransfer({ beneficiaryAccount: '1' })),
      400,
      '$.beneficiaryAccount',
    );
    expectError(
      await send(internalTransfer({ endToEndId: randomUUID(), initiationType: 'KEY' })),
      400,
      '$.beneficiaryAccount',
    );
    const { beneficiary } = manualTransfer();
    expectError(await send(keyTransfer('E1', { beneficiary })), 400, '$.beneficiary');
  });

  it('rejects a body that is not JSON, not an object, or empty', async () => {
    expectError(await send('{"amount":1'), 400, '$');
    expectError(await send([]), 400, '$');
    expectError(await send('{"amount":1,"amount":2}'), 400, '$');
    expectError(await send(''), 400, '$');
  });
});
