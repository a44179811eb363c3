// An account at its balance limit: credits are refused, but the reversal of a failed Pix is
// credited.
import { sandboxUnderTest, type SandboxUnderTest } from '../../contract/bank-under-test.js';
import { expectError } from '../../contract/samples.js';
import { manualTransfer, transferCalls } from '../../contract/transfer-samples.js';
import { until } from '../../support/until.js';

let bank: SandboxUnderTest;
beforeAll(async () => {
  bank = await sandboxUnderTest();
});
afterAll(() => bank.stop());

const { send, get } = transferCalls(() => bank);
const post = (path: string, body: unknown) => bank.call('POST', path, { body });
const credit = (amount: number) =>
  post('/sandbox/transactions', { amount, isCredit: true, typeName: 'ANY_LINE' });

it('refuses further credits, and still reverses a failed Pix', async () => {
  await post('/sandbox/clock', { frozen: true });
  await post('/sandbox/faults', { endpoint: 'transfers', kind: 'async-error', times: 1 });
  const { body } = await send(manualTransfer({ amount: 10 }));
  expect((await credit(900_000_000_000 - 99_990)).status).toBe(200);
  const refused = await credit(0.01);
  expectError(refused, 422);
  expect(refused.body.code).toBe('balance_limit');
  await post('/sandbox/clock', { frozen: false });
  await until('the Pix has failed', async () => (await get(body.id)).body.status === 'PIX_ERROR');
  const { accounts, audit } = (await bank.call('GET', '/sandbox/ledger?account=1000001')).body;
  expect(accounts[0].balance).toBe(900_000_000_010);
  expect(audit.clean).toBe(true);
});
