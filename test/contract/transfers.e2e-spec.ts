import { randomUUID } from 'node:crypto';
import { bankUnderTest, eventually, type BankUnderTest } from './bank-under-test.js';
import { expectError, newKey } from './samples.js';
import { byKey, internal, known, manual, party, transferCalls } from './transfer-samples.js';

let bank: BankUnderTest;
beforeAll(async () => {
  bank = await bankUnderTest();
});
afterAll(() => bank.stop());

const { endToEndId, lookUp, send } = transferCalls(() => bank);

const guid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i);
const pixStates = /^PIX_(PROCESSING|WAITING_SPI_RESPONSE|EFFECTIVE)$/;
const timestamp = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/);

/** The debit of a Pix on the statement, once it stands there. */
const debitOf = (id: string) =>
  eventually(async () => {
    const { body } = await bank.call('GET', `/baas/api/v2/transactions?endToEndId=${id}`);
    expect(body).toHaveLength(1);
    return body[0];
  });

describe('POST /baas/api/v2/transfers, by key', () => {
  it('sends a Pix that a look-up began, and debits it', async () => {
    const lookup = (await lookUp()).body;
    const request = byKey(lookup.endToEndId);
    const { status, body } = await send(request);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: guid,
      endToEndId: lookup.endToEndId,
      status: expect.stringMatching(pixStates),
      type: 'PIX_KEY',
      amount: 1.25,
      createdAt: timestamp,
      description: 'Pedido 42',
      payer: party,
      beneficiary: party,
    });
    expect(body.beneficiary.holder.name).toBe(lookup.beneficiary.holder.name);
    const line = await debitOf(lookup.endToEndId);
    expect(line).toMatchObject({
      amount: 1.25,
      type: { name: 'DEBIT_PIX', isCredit: false },
      proof: { endToEndId: lookup.endToEndId, amount: 1.25, payer: party, beneficiary: party },
    });
    if (body.transactionNsu) expect(line.nsu).toBe(body.transactionNsu);
  });

  it('begins one transfer with one look-up', async () => {
    const id = await endToEndId();
    const answers = await Promise.all([send(byKey(id)), send(byKey(id)), send(byKey(id))]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422]);
    expectError(await send(byKey(id)), 422);
  });

  it('knows no endToEndId that it did not give to this account', async () => {
    expectError(await send(byKey('E99999999202601010000abcdefghijk')), 422);
    expectError(await send(byKey('anything')), 422);
    if (!bank.otherApiKey) return;
    const { body } = await lookUp({ key: known.dictKey }, bank.otherApiKey);
    expectError(await send(byKey(body.endToEndId)), 422);
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
  ])('refuses a wrong %s: %p', async (field, changes) => {
    expectError(await send(byKey(await endToEndId(), changes)), 400, `$.${field}`);
  });
});

describe('POST /baas/api/v2/transfers, by account data', () => {
  it('sends a Pix without a look-up', async () => {
    const { status, body } = await send(manual());
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: guid,
      endToEndId: expect.stringMatching(/^E/),
      status: expect.stringMatching(pixStates),
      type: 'PIX_MANUAL',
      amount: 2.5,
      createdAt: timestamp,
      description: 'Nota 7',
      payer: party,
      beneficiary: { number: '7654321', holder: { document: '52998224725', type: 'NATURAL' } },
    });
    expect(await debitOf(body.endToEndId)).toMatchObject({ amount: 2.5 });
  });

  const { beneficiary } = manual();
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
  ])('refuses a wrong %s: %p', async (field, changes) => {
    const request = manual({ beneficiary: { ...beneficiary, ...changes } });
    expectError(await send(request), 400, `$.beneficiary.${field}`);
  });
});

describe('POST /baas/api/v2/transfers, between accounts', () => {
  it('is effective at once, with its externalId and without an endToEndId', async () => {
    const request = internal();
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
      payer: party,
      beneficiary: { ...party, number: known.beneficiaryAccount },
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

  it('knows no account that is not the bank’s, and not the payer’s own', async () => {
    const { body } = await send(internal());
    expectError(await send(internal({ beneficiaryAccount: body.payer.number })), 422);
    expectError(await send(internal({ beneficiaryAccount: '0000000' })), 422);
  });

  it.each([
    ['beneficiaryAccount', { beneficiaryAccount: '' }],
    ['beneficiaryAccount', { beneficiaryAccount: 1000002 }],
    ['externalId', { externalId: ' with spaces ' }],
    ['amount', { amount: 0.001 }],
    ['amount', { amount: -1 }],
  ])('refuses a wrong %s: %p', async (field, changes) =>
    expectError(await send(internal(changes)), 400, `$.${field}`),
  );
});

describe('POST /baas/api/v2/transfers', () => {
  it('does one transfer for one IdempotencyKey, and answers each repeat the same', async () => {
    const [request, headers] = [internal(), newKey()];
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(request, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expectError(await send({ ...request, amount: 0.76 }, headers), 422);
  });

  it('refuses a request without IdempotencyKey', async () =>
    expectError(await send(internal(), {}), 400, 'IdempotencyKey'));

  it('moves nothing that the balance does not cover', async () => {
    expectError(await send(internal({ amount: 99_999_999_999 })), 422);
    expectError(await send(manual({ amount: 99_999_999_999 })), 422);
  });

  it('refuses none of the shapes, and two of them at once', async () => {
    expectError(await send({ amount: 1, description: 'x' }), 400, '$');
    expectError(await send(manual({ beneficiaryAccount: '1' })), 400, '$.beneficiaryAccount');
    expectError(
      await send(internal({ endToEndId: randomUUID(), initiationType: 'KEY' })),
      400,
      '$.beneficiaryAccount',
    );
    const { beneficiary } = manual();
    expectError(await send(byKey('E1', { beneficiary })), 400, '$.beneficiary');
  });

  it('refuses what is no JSON, no object, or nothing', async () => {
    expectError(await send('{"amount":1'), 400, '$');
    expectError(await send([]), 400, '$');
    expectError(await send('{"amount":1,"amount":2}'), 400, '$');
    expectError(await send(''), 400, '$');
  });
});
