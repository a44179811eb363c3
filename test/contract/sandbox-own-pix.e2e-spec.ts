// Pix to the own account, failed refunds and returned Pix: refunds and returns together never
// exceed the original.
import { until } from '../support/until.js';
import { sandboxUnderTest, type SandboxUnderTest } from './bank-under-test.js';
import { keyTransfer, transferCalls } from './transfer-samples.js';

let bank: SandboxUnderTest;
beforeEach(async () => {
  bank = await sandboxUnderTest();
  await bank.call('PATCH', '/sandbox/modes', { body: { pixStepMs: 1 } });
});
afterEach(async () => {
  const { body } = await bank.call('GET', '/sandbox/ledger');
  await bank.stop();
  expect(body.audit).toEqual({ clean: true, problems: [] });
});

const ownKey = 'financeiro@empresa-um.example';
const otherApiKey = 'sandbox-dev-key-2';
const { send, newEndToEndId, get } = transferCalls(() => bank);
const post = (path: string, body: unknown) => bank.call('POST', path, { body });
const refund = (id: string, amount: number, apiKey = 'sandbox-dev-key') =>
  bank.call('PUT', `/baas/api/v1/transactions/${id}/refund?filterBy=END_TO_END_ID`, {
    body: { amount },
    apiKey,
  });
const balance = async (number = '1000001') => {
  const { accounts } = (await bank.call('GET', `/sandbox/ledger?account=${number}`)).body;
  return accounts[0].balance;
};
const types = async () =>
  (await bank.call('GET', '/baas/api/v2/transactions')).body.map(
    ({ type }: { type: { name: string } }) => type.name,
  );

/** Sends a Pix of R$ 10, waits until it is effective and returns its endToEndId. */
async function sendEffectivePix(key: string): Promise<string> {
  const { body } = await send(keyTransfer(await newEndToEndId(key), { amount: 10 }));
  await until('the Pix is effective', async () => {
    return (await get(body.id)).body.status === 'PIX_EFFECTIVE';
  });
  return body.endToEndId;
}

it('refunds a Pix to the own account with a debit and a credit', async () => {
  const id = await sendEffectivePix(ownKey);
  expect((await refund(id, 4)).status).toBe(200);
  expect(await balance()).toBe(100_000);
  expect(await types()).toEqual([
    ...['CREDIT_PIX_REFUND', 'DEBIT_PIX_REFUND'],
    ...['CREDIT_PIX', 'DEBIT_PIX'],
  ]);
  expect((await refund(id, 6.01)).body.code).toBe('refund_exceeds_original');
  expect((await post('/sandbox/pix/med', { endToEndId: id })).body.amount).toBe(6);
  expect(await balance()).toBe(100_000);
});

it('returns a Pix to the own account once: after a return, a refund is refused', async () => {
  const id = await sendEffectivePix(ownKey);
  expect((await post('/sandbox/pix/returned', { endToEndId: id })).status).toBe(200);
  expect((await refund(id, 0.01)).body.code).toBe('refund_exceeds_original');
  expect((await post('/sandbox/pix/returned', { endToEndId: id })).status).toBe(422);
  expect(await balance()).toBe(100_000);
});

it('returns a Pix after its refund has failed', async () => {
  const id = await sendEffectivePix('maria@pessoa-dois.example');
  await post('/sandbox/faults', { endpoint: 'refunds', kind: 'async-error', times: 1, delayMs: 0 });
  expect((await refund(id, 10, otherApiKey)).status).toBe(200);
  await until('the refund has failed', async () => (await balance('1000002')) === 5_010);
  expect((await post('/sandbox/pix/returned', { endToEndId: id })).status).toBe(200);
  expect(await balance()).toBe(100_000);
  expect(await balance('1000002')).toBe(5_000);
  expect((await refund(id, 0.01, otherApiKey)).body.code).toBe('refund_exceeds_original');
});
