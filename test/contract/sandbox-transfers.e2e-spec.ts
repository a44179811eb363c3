// Behaviour of transfers that the contract leaves to the sandbox: the states, modes and faults of a
// sent Pix, and look-ups.
import { randomUUID } from 'node:crypto';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import type { FaultEndpoint, FaultKind } from '../../src/sandbox/faults/fault.js';
import {
  createCaller,
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from './bank-under-test.js';
import { expectError, newKeyHeader } from './samples.js';
import {
  keyTransfer,
  internalTransfer,
  manualTransfer,
  transferCalls,
} from './transfer-samples.js';

const otherApiKey = 'sandbox-dev-key-2';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const { newEndToEndId, get, lookUp, send } = transferCalls(() => bank);
const modes = (changes: object) => bank.call('PATCH', '/sandbox/modes', { body: changes });
const clock = (body: object) => bank.call('POST', '/sandbox/clock', { body });
/** Adds a fault that fires once. */
const fault = (endpoint: FaultEndpoint, kind: FaultKind) =>
  bank.application.get(Faults).add({
    ...{ endpoint, kind, times: 1, probability: null, seed: 1, delayMs: null },
  });

const ledger = async (account: string) => {
  const { body } = await bank.call('GET', `/sandbox/ledger?account=${account}`);
  return { balance: body.accounts[0].balance, movements: body.movements };
};
const waitUntilFinal = (id: string) =>
  eventually(async () => {
    const { body } = await get(id);
    expect(body.status).toMatch(/^PIX_(EFFECTIVE|ERROR)$/);
    return body;
  });
const linesOf = async (id: string, apiKey = 'sandbox-dev-key') => {
  const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=100', { apiKey });
  return body.filter((line: { proof: { endToEndId?: string } }) => line.proof.endToEndId === id);
};
const ownAccountParty = {
  number: '1000002',
  branch: '0001',
  type: 'CURRENT',
  participantIspb: '99999999',
  holder: { document: '12345678909', name: 'Maria Aparecida da Silva', type: 'NATURAL' },
};

describe('a sent Pix', () => {
  it('passes through its states by the bank’s clock, and is debited at acceptance', async () => {
    await clock({ frozen: true });
    const { body } = await send(manualTransfer({ amount: 10 }));
    expect(body).toMatchObject({ status: 'PIX_PROCESSING', transactionNsu: 1 });
    expect((await ledger('1000001')).balance).toBe(99_990);
    expect((await get(body.id)).body.status).toBe('PIX_PROCESSING');
    await clock({ advance: 'PT0.3S' });
    const waiting = (await get(body.id)).body;
    expect(waiting.status).toBe('PIX_WAITING_SPI_RESPONSE');
    expect(waiting.updatedAt > body.createdAt).toBe(true);
    await clock({ advance: 'PT0.3S' });
    const { externalId, error, updatedAt, ...rest } = (await get(body.id)).body;
    expect(rest).toEqual({ ...body, status: 'PIX_EFFECTIVE' });
    expect([externalId, error]).toEqual([null, null]);
    expect(updatedAt > waiting.updatedAt).toBe(true);
    expect((await ledger('1000001')).movements).toHaveLength(1);
  });

  it('becomes effective when the clock is moved past both steps', async () => {
    await modes({ pixStepMs: 3_600_000 });
    const { body } = await send(manualTransfer());
    expect((await get(body.endToEndId)).body.status).toBe('PIX_PROCESSING');
    await clock({ advance: 'P1D' });
    expect((await get(body.endToEndId)).body.status).toBe('PIX_EFFECTIVE');
  });

  it('has one debit, with its IdempotencyKey and a proof', async () => {
    const headers = newKeyHeader();
    const { body } = await send(
      keyTransfer(await newEndToEndId(), { description: undefined }),
      headers,
    );
    expect(body.description).toBeNull();
    await waitUntilFinal(body.id);
    const { movements } = await ledger('1000001');
    expect(movements).toEqual([
      expect.objectContaining({
        ...{ nsu: body.transactionNsu, type: 'DEBIT_PIX', amount: 1.25, isCredit: false },
        ...{ endToEndId: body.endToEndId, idempotencyKey: headers.IdempotencyKey },
      }),
    ]);
    const [line] = await linesOf(body.endToEndId);
    expect(line.proof).toEqual({
      ...{ id: body.id, endToEndId: body.endToEndId, status: 'PIX_EFFECTIVE', type: 'PIX_KEY' },
      ...{ idempotencyKey: headers.IdempotencyKey, amount: 1.25, description: null },
      ...{ payer: body.payer, beneficiary: body.beneficiary },
    });
  });

  it('credits an account of this bank with the same endToEndId, by key and by account data', async () => {
    const sent = [
      (await send(keyTransfer(await newEndToEndId(), { amount: 1 }))).body,
      (await send(manualTransfer({ amount: 2, beneficiary: ownAccountParty }))).body,
    ];
    for (const { id, endToEndId: e2e, type, payer, amount, beneficiary } of sent) {
      expect((await waitUntilFinal(id)).status).toBe('PIX_EFFECTIVE');
      const [line] = await linesOf(e2e, otherApiKey);
      expect(line).toMatchObject({ amount, type: { name: 'CREDIT_PIX', isCredit: true } });
      expect(line.proof).toMatchObject({ type, status: 'PIX_EFFECTIVE', payer, beneficiary });
    }
    expect((await ledger('1000002')).balance).toBe(5_003);
  });

  it('can be sent to the own account', async () => {
    const id = await newEndToEndId('11.222.333/0001-81');
    const { body } = await send(keyTransfer(id));
    expect((await waitUntilFinal(body.id)).status).toBe('PIX_EFFECTIVE');
    const { balance, movements } = await ledger('1000001');
    expect(balance).toBe(100_000);
    expect(movements.map(({ type }: { type: string }) => type)).toEqual([
      'DEBIT_PIX',
      'CREDIT_PIX',
    ]);
  });

  it.each([{ number: '1000009' }, { branch: '0002' }])(
    'fails and is reversed when this bank has no account %p',
    async (changes) => {
      const { body } = await send(
        manualTransfer({ beneficiary: { ...ownAccountParty, ...changes } }),
      );
      expect(body.status).toBe('PIX_PROCESSING');
      const ended = await waitUntilFinal(body.id);
      expect(ended).toMatchObject({ status: 'PIX_ERROR', error: { code: 'AC03' } });
      expect((await ledger('1000001')).balance).toBe(100_000);
    },
  );

  it('ends once when two processes of the bank run the due tasks', async () => {
    await modes({ pixStepMs: 0 });
    const second = await bank.start();
    try {
      const beneficiary = ownAccountParty;
      const sent = await Promise.all(
        Array.from({ length: 20 }, () => send(manualTransfer({ amount: 1, beneficiary }))),
      );
      for (const { body } of sent)
        expect((await waitUntilFinal(body.id)).status).toBe('PIX_EFFECTIVE');
    } finally {
      await second.close();
    }
    expect(await ledger('1000001')).toMatchObject({ balance: 99_980, movements: { length: 20 } });
    expect(await ledger('1000002')).toMatchObject({ balance: 5_020, movements: { length: 20 } });
  });

  it('continues after the process that accepted it has stopped', async () => {
    await modes({ pixStepMs: 60_000 });
    const second = await bank.start();
    const call = createCaller(await second.getUrl(), 'sandbox-dev-key', 'sandbox');
    const path = '/baas/api/v2/transfers';
    const { body } = await call('POST', path, { body: manualTransfer(), headers: newKeyHeader() });
    await second.close();
    expect((await get(body.id)).body.status).toBe('PIX_PROCESSING');
    await clock({ advance: 'PT2M' });
    expect((await get(body.id)).body.status).toBe('PIX_EFFECTIVE');
  });

  it('fails by a fault, and is reversed by a separate line', async () => {
    fault('transfers', 'async-error');
    expectError(await send(manualTransfer({ amount: 99_999_999 })), 422);
    expect((await send(internalTransfer())).body.status).toBe('EFFECTIVE');
    const { body } = await send(manualTransfer({ amount: 4 }));
    expect(await waitUntilFinal(body.endToEndId)).toMatchObject({
      ...{ status: 'PIX_ERROR', transactionNsu: body.transactionNsu },
      error: { code: 'AC06', description: expect.any(String) },
    });
    const { balance, movements } = await ledger('1000001');
    expect(balance).toBe(99_999.25);
    expect(movements.slice(1)).toMatchObject([
      { type: 'DEBIT_PIX', amount: 4, endToEndId: body.endToEndId, originalEndToEndId: null },
      {
        ...{ type: 'CREDIT_PIX_REVERSAL', amount: 4, isCredit: true, idempotencyKey: null },
        ...{ endToEndId: body.endToEndId, originalEndToEndId: body.endToEndId },
      },
    ]);
    const path = `/baas/api/v2/transactions?endToEndId=${body.endToEndId}`;
    const listed = (await bank.call('GET', path)).body;
    expect(listed).toMatchObject([{ nsu: body.transactionNsu, type: { name: 'DEBIT_PIX' } }]);
    const lines = await linesOf(body.endToEndId);
    expect(lines[0].proof).toMatchObject({ status: 'PIX_ERROR', error: { code: 'AC06' } });
    expect((await waitUntilFinal((await send(manualTransfer())).body.id)).status).toBe(
      'PIX_EFFECTIVE',
    );
  });
});

describe('the mode pixDebit: when-effective', () => {
  beforeEach(async () => {
    await modes({ pixDebit: 'when-effective', pixStepMs: 60_000 });
    await clock({ frozen: true });
  });

  it('blocks the amount, and debits it at the end', async () => {
    const { body } = await send(manualTransfer({ amount: 99_000, beneficiary: ownAccountParty }));
    expect(body).toMatchObject({ status: 'PIX_PROCESSING', transactionNsu: null });
    expect(await ledger('1000001')).toEqual({ balance: 100_000, movements: [] });
    const refused = await Promise.all([
      send(manualTransfer({ amount: 1_000.01 })),
      send(internalTransfer({ amount: 1_000.01 })),
    ]);
    for (const response of refused) expect(response.body.code).toBe('insufficient_funds');
    await clock({ advance: 'PT2M' });
    const ended = (await get(body.id)).body;
    const { balance, movements } = await ledger('1000001');
    expect(movements).toMatchObject([{ type: 'DEBIT_PIX', amount: 99_000 }]);
    expect(ended).toMatchObject({ status: 'PIX_EFFECTIVE', transactionNsu: movements[0].nsu });
    expect([balance, (await ledger('1000002')).balance]).toEqual([1_000, 104_000]);
    expect((await linesOf(body.endToEndId))[0].proof.status).toBe('PIX_EFFECTIVE');
  });

  it('releases the held amount of a failed Pix without a line', async () => {
    fault('transfers', 'async-error');
    const { body } = await send(manualTransfer({ amount: 100_000 }));
    await modes({ pixDebit: 'at-acceptance' });
    await clock({ advance: 'PT2M' });
    expect((await get(body.id)).body).toMatchObject({ status: 'PIX_ERROR', transactionNsu: null });
    expect(await ledger('1000001')).toEqual({ balance: 100_000, movements: [] });
    expect((await send(internalTransfer({ amount: 100_000 }))).status).toBe(200);
  });
});

describe('a look-up', () => {
  it('masks documents, and accepts keys with punctuation and in any letter case', async () => {
    const cpf = (await lookUp({ key: '123.456.789-09', holderDocument: '123.456.789-09' })).body;
    expect(cpf).toMatchObject({ key: '12345678909', keyBelongsHolder: true });
    expect(cpf.beneficiary.holder.document).toBe('***.456.789-**');
    const cnpj = (await lookUp({ key: 'FINANCEIRO@empresa-um.example' })).body;
    expect(cnpj.beneficiary.holder.document).toBe('**.222.333/0001-**');
    expect(cnpj.endToEndId).toMatch(/^E99999999\d{12}[0-9A-Za-z]{11}$/);
  });

  it('expires after lookupMinutes', async () => {
    await modes({ lookupMinutes: 10 });
    await clock({ frozen: true });
    const [late, early] = [await newEndToEndId(), await newEndToEndId()];
    await clock({ advance: 'PT9M59S' });
    expect((await send(keyTransfer(early))).status).toBe(200);
    await clock({ advance: 'PT1S' });
    expect((await send(keyTransfer(late))).body.code).toBe('look_up_expired');
    expect((await send(keyTransfer(early))).body.code).toBe('look_up_used');
  });

  it('can be used again after its transfer was refused', async () => {
    const id = await newEndToEndId();
    expectError(await send(keyTransfer(id, { amount: 100_000.01 })), 422);
    expect((await send(keyTransfer(id))).status).toBe(200);
  });

  it('begins only one transfer, of the account that made the look-up', async () => {
    const id = await newEndToEndId();
    const foreign = await send(keyTransfer(id), newKeyHeader(), otherApiKey);
    expect(foreign.body.code).toBe('look_up_not_found');
    const responses = await Promise.all(Array.from({ length: 10 }, () => send(keyTransfer(id))));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const response of responses)
      if (response.status !== 200) expect(response.body.code).toBe('look_up_used');
    expect((await ledger('1000001')).movements).toHaveLength(1);
  });
});

describe('GET /baas/api/v2/transfers/{identifier}', () => {
  it('returns a transfer between accounts to both accounts, and a Pix to its payer only', async () => {
    const { externalId, id } = (await send(internalTransfer())).body;
    for (const identifier of [id, externalId]) {
      expect((await get(identifier)).body).toMatchObject({ id, externalId, transactionNsu: 1 });
      const received = (await get(identifier, otherApiKey)).body;
      expect(received).toMatchObject({ id, externalId, status: 'EFFECTIVE' });
      const line = (await bank.call('GET', '/baas/api/v2/transactions', { apiKey: otherApiKey }))
        .body[0];
      expect(received.transactionNsu).toBe(line.nsu);
      expect(line).toMatchObject({ externalId, type: { name: 'CREDIT_TRANSFER_INTERNAL' } });
    }
    const pix = (await send(manualTransfer({ beneficiary: ownAccountParty }))).body;
    expectError(await get(pix.id, otherApiKey), 404);
    expectError(await get(pix.endToEndId, otherApiKey), 404);
    for (const identifier of [randomUUID(), 'nothing', 'E1', '%00', "'"])
      expectError(await get(identifier), 404);
    expectError(await get('\u0000'), 400, '$.identifier');
  });
});
