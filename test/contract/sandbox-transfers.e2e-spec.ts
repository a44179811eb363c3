// The sandbox's own choices on money that is sent: the life of a Pix, its modes and its faults.
import { randomUUID } from 'node:crypto';
import { Faults } from '../../src/sandbox/faults/faults.service.js';
import type { FaultEndpoint, FaultKind } from '../../src/sandbox/faults/fault.js';
import { caller, eventually, sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { expectError, newKey } from './samples.js';
import { byKey, internal, manual, transferCalls } from './transfer-samples.js';

const other = 'sandbox-dev-key-2';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
});
afterEach(async () => {
  const { audit } = (await bank.call('GET', '/sandbox/ledger')).body;
  await bank.stop();
  expect(audit).toEqual({ clean: true, problems: [] });
});

const { endToEndId, get, lookUp, send } = transferCalls(() => bank);
const modes = (changes: object) => bank.call('PATCH', '/sandbox/modes', { body: changes });
const clock = (body: object) => bank.call('POST', '/sandbox/clock', { body });
/** Asks for a fault that fires once. */
const fault = (endpoint: FaultEndpoint, kind: FaultKind) =>
  bank.application.get(Faults).add({
    ...{ endpoint, kind, times: 1, probability: null, seed: 1, delayMs: null },
  });

const ledger = async (account: string) => {
  const { body } = await bank.call('GET', `/sandbox/ledger?account=${account}`);
  return { balance: body.accounts[0].balance, movements: body.movements };
};
const final = (id: string) =>
  eventually(async () => {
    const { body } = await get(id);
    expect(body.status).toMatch(/^PIX_(EFFECTIVE|ERROR)$/);
    return body;
  });
const linesOf = async (id: string, apiKey = 'sandbox-dev-key') => {
  const { body } = await bank.call('GET', '/baas/api/v2/transactions?limit=100', { apiKey });
  return body.filter((line: { proof: { endToEndId?: string } }) => line.proof.endToEndId === id);
};
const ownHere = {
  number: '1000002',
  branch: '0001',
  type: 'CURRENT',
  participantIspb: '99999999',
  holder: { document: '12345678909', name: 'Maria Aparecida da Silva', type: 'NATURAL' },
};

describe('a sent Pix', () => {
  it('goes through its states by the bank’s clock, debited when it is accepted', async () => {
    await clock({ frozen: true });
    const { body } = await send(manual({ amount: 10 }));
    expect(body).toMatchObject({ status: 'PIX_PROCESSING', transactionNsu: 1 });
    expect((await ledger('1000001')).balance).toBe(99_990);
    expect((await get(body.id)).body.status).toBe('PIX_PROCESSING');
    await clock({ advance: 'PT0.3S' });
    const waiting = (await get(body.id)).body;
    expect(waiting.status).toBe('PIX_WAITING_SPI_RESPONSE');
    expect(waiting.updatedAt > body.createdAt).toBe(true);
    await clock({ advance: 'PT0.3S' });
    const { externalId, error, updatedAt, ...told } = (await get(body.id)).body;
    expect(told).toEqual({ ...body, status: 'PIX_EFFECTIVE' });
    expect([externalId, error]).toEqual([null, null]);
    expect(updatedAt > waiting.updatedAt).toBe(true);
    expect((await ledger('1000001')).movements).toHaveLength(1);
  });

  it('does both steps when the clock is moved far, and stays where it ended', async () => {
    await modes({ pixStepMs: 3_600_000 });
    const { body } = await send(manual());
    expect((await get(body.endToEndId)).body.status).toBe('PIX_PROCESSING');
    await clock({ advance: 'P1D' });
    expect((await get(body.endToEndId)).body.status).toBe('PIX_EFFECTIVE');
  });

  it('keeps its IdempotencyKey on its one debit, with a proof', async () => {
    const headers = newKey();
    const { body } = await send(byKey(await endToEndId(), { description: undefined }), headers);
    expect(body.description).toBeNull();
    await final(body.id);
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
      (await send(byKey(await endToEndId(), { amount: 1 }))).body,
      (await send(manual({ amount: 2, beneficiary: ownHere }))).body,
    ];
    for (const { id, endToEndId: e2e, type, payer, amount, beneficiary } of sent) {
      expect((await final(id)).status).toBe('PIX_EFFECTIVE');
      const [line] = await linesOf(e2e, other);
      expect(line).toMatchObject({ amount, type: { name: 'CREDIT_PIX', isCredit: true } });
      expect(line.proof).toMatchObject({ type, status: 'PIX_EFFECTIVE', payer, beneficiary });
    }
    expect((await ledger('1000002')).balance).toBe(5_003);
  });

  it('pays the own account as it pays any other', async () => {
    const id = await endToEndId('11.222.333/0001-81');
    const { body } = await send(byKey(id));
    expect((await final(body.id)).status).toBe('PIX_EFFECTIVE');
    const { balance, movements } = await ledger('1000001');
    expect(balance).toBe(100_000);
    expect(movements.map(({ type }: { type: string }) => type)).toEqual([
      'DEBIT_PIX',
      'CREDIT_PIX',
    ]);
  });

  it.each([{ number: '1000009' }, { branch: '0002' }])(
    'fails and gives the money back when this bank has no account %p',
    async (changes) => {
      const { body } = await send(manual({ beneficiary: { ...ownHere, ...changes } }));
      expect(body.status).toBe('PIX_PROCESSING');
      const ended = await final(body.id);
      expect(ended).toMatchObject({ status: 'PIX_ERROR', error: { code: 'AC03' } });
      expect((await ledger('1000001')).balance).toBe(100_000);
    },
  );

  it('ends once, whichever process of the bank does what is due', async () => {
    await modes({ pixStepMs: 0 });
    const second = await bank.start();
    try {
      const beneficiary = ownHere;
      const sent = await Promise.all(
        Array.from({ length: 20 }, () => send(manual({ amount: 1, beneficiary }))),
      );
      for (const { body } of sent) expect((await final(body.id)).status).toBe('PIX_EFFECTIVE');
    } finally {
      await second.close();
    }
    expect(await ledger('1000001')).toMatchObject({ balance: 99_980, movements: { length: 20 } });
    expect(await ledger('1000002')).toMatchObject({ balance: 5_020, movements: { length: 20 } });
  });

  it('goes on when the process that accepted it is gone', async () => {
    await modes({ pixStepMs: 60_000 });
    const second = await bank.start();
    const call = caller(await second.getUrl(), 'sandbox-dev-key');
    const path = '/baas/api/v2/transfers';
    const { body } = await call('POST', path, { body: manual(), headers: newKey() });
    await second.close();
    expect((await get(body.id)).body.status).toBe('PIX_PROCESSING');
    await clock({ advance: 'PT2M' });
    expect((await get(body.id)).body.status).toBe('PIX_EFFECTIVE');
  });

  it('fails by a fault, and a line of its own gives the money back', async () => {
    fault('transfers', 'async-error');
    expectError(await send(manual({ amount: 99_999_999 })), 422);
    expect((await send(internal())).body.status).toBe('EFFECTIVE');
    const { body } = await send(manual({ amount: 4 }));
    expect(await final(body.endToEndId)).toMatchObject({
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
    const asked = (await bank.call('GET', path)).body;
    expect(asked).toMatchObject([{ nsu: body.transactionNsu, type: { name: 'DEBIT_PIX' } }]);
    const lines = await linesOf(body.endToEndId);
    expect(lines[0].proof).toMatchObject({ status: 'PIX_ERROR', error: { code: 'AC06' } });
    expect((await final((await send(manual())).body.id)).status).toBe('PIX_EFFECTIVE');
  });
});

describe('the mode pixDebit: when-effective', () => {
  beforeEach(async () => {
    await modes({ pixDebit: 'when-effective', pixStepMs: 60_000 });
    await clock({ frozen: true });
  });

  it('holds the amount, and debits it at the end', async () => {
    const { body } = await send(manual({ amount: 99_000, beneficiary: ownHere }));
    expect(body).toMatchObject({ status: 'PIX_PROCESSING', transactionNsu: null });
    expect(await ledger('1000001')).toEqual({ balance: 100_000, movements: [] });
    const refused = await Promise.all([
      send(manual({ amount: 1_000.01 })),
      send(internal({ amount: 1_000.01 })),
    ]);
    for (const answer of refused) expect(answer.body.code).toBe('insufficient_funds');
    await clock({ advance: 'PT2M' });
    const ended = (await get(body.id)).body;
    const { balance, movements } = await ledger('1000001');
    expect(movements).toMatchObject([{ type: 'DEBIT_PIX', amount: 99_000 }]);
    expect(ended).toMatchObject({ status: 'PIX_EFFECTIVE', transactionNsu: movements[0].nsu });
    expect([balance, (await ledger('1000002')).balance]).toEqual([1_000, 104_000]);
    expect((await linesOf(body.endToEndId))[0].proof.status).toBe('PIX_EFFECTIVE');
  });

  it('frees the amount of one that fails, without a line', async () => {
    fault('transfers', 'async-error');
    const { body } = await send(manual({ amount: 100_000 }));
    await modes({ pixDebit: 'at-acceptance' });
    await clock({ advance: 'PT2M' });
    expect((await get(body.id)).body).toMatchObject({ status: 'PIX_ERROR', transactionNsu: null });
    expect(await ledger('1000001')).toEqual({ balance: 100_000, movements: [] });
    expect((await send(internal({ amount: 100_000 }))).status).toBe(200);
  });
});

describe('a look-up', () => {
  it('masks a CPF to its middle and a CNPJ partly, and reads a key in any spelling', async () => {
    const cpf = (await lookUp({ key: '123.456.789-09', holderDocument: '123.456.789-09' })).body;
    expect(cpf).toMatchObject({ key: '12345678909', keyBelongsHolder: true });
    expect(cpf.beneficiary.holder.document).toBe('***.456.789-**');
    const cnpj = (await lookUp({ key: 'FINANCEIRO@empresa-um.example' })).body;
    expect(cnpj.beneficiary.holder.document).toBe('**.222.333/0001-**');
    expect(cnpj.endToEndId).toMatch(/^E99999999\d{12}[0-9A-Za-z]{11}$/);
  });

  it('is unexpired up to its minute', async () => {
    await modes({ lookupMinutes: 10 });
    await clock({ frozen: true });
    const [late, early] = [await endToEndId(), await endToEndId()];
    await clock({ advance: 'PT9M59S' });
    expect((await send(byKey(early))).status).toBe(200);
    await clock({ advance: 'PT1S' });
    expect((await send(byKey(late))).body.code).toBe('look_up_expired');
    expect((await send(byKey(early))).body.code).toBe('look_up_used');
  });

  it('can still be used when the transfer that it began was refused', async () => {
    const id = await endToEndId();
    expectError(await send(byKey(id, { amount: 100_000.01 })), 422);
    expect((await send(byKey(id))).status).toBe(200);
  });

  it('begins a transfer of the account that asked, and only one', async () => {
    const id = await endToEndId();
    const foreign = await send(byKey(id), newKey(), other);
    expect(foreign.body.code).toBe('look_up_not_found');
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(byKey(id))));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers)
      if (answer.status !== 200) expect(answer.body.code).toBe('look_up_used');
    expect((await ledger('1000001')).movements).toHaveLength(1);
  });
});

describe('GET /baas/api/v2/transfers/{identifier}', () => {
  it('tells both sides of a transfer between accounts, and nobody of a Pix but its payer', async () => {
    const { externalId, id } = (await send(internal())).body;
    for (const identifier of [id, externalId]) {
      expect((await get(identifier)).body).toMatchObject({ id, externalId, transactionNsu: 1 });
      const received = (await get(identifier, other)).body;
      expect(received).toMatchObject({ id, externalId, status: 'EFFECTIVE' });
      const line = (await bank.call('GET', '/baas/api/v2/transactions', { apiKey: other })).body[0];
      expect(received.transactionNsu).toBe(line.nsu);
      expect(line).toMatchObject({ externalId, type: { name: 'CREDIT_TRANSFER_INTERNAL' } });
    }
    const pix = (await send(manual({ beneficiary: ownHere }))).body;
    expectError(await get(pix.id, other), 404);
    expectError(await get(pix.endToEndId, other), 404);
    for (const identifier of [randomUUID(), 'nothing', 'E1', '%00', "'"])
      expectError(await get(identifier), 404);
    expectError(await get('\u0000'), 400, '$.identifier');
  });
});
