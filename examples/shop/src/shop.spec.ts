// From a charge to its supplier, against a service on a bank of its own.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { constructEvent, isPending, type ConciliaEvent } from '@concilia/client';
import { startConcilia } from './concilia.js';

let concilia: Awaited<ReturnType<typeof startConcilia>>;
const events: ConciliaEvent[] = [];
let secret = '';
const endpoint = createServer((request, response) => {
  void text(request).then((body) => {
    events.push(constructEvent(body, request.headers, secret));
    response.end();
  });
});

async function received<T extends ConciliaEvent['type']>(type: T) {
  const isWanted = (one: ConciliaEvent): one is Extract<ConciliaEvent, { type: T }> =>
    one.type === type;
  while (!events.some(isWanted)) await new Promise((resolve) => setTimeout(resolve, 50));
  return events.filter(isWanted)[0]!;
}

beforeAll(async () => void (concilia = await startConcilia()));
beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve)));
afterAll(() => endpoint.close().closeAllConnections());
afterAll(() => concilia.stop());

test('a customer pays, gets a part back, and the supplier is paid after an approval', async () => {
  const { bank, operator, shop, clientOf } = concilia;
  const url = `http://127.0.0.1:${(endpoint.address() as { port: number }).port}`;
  ({ secret } = await shop.notifications.createWebhookEndpoint({ url }));
  const correlationId = `order-${randomUUID()}`;
  const payer = { name: 'Maria da Silva', document: '12345678909' };
  const slip = { type: 'BANKSLIP_PIX', dueDate: '2030-12-31', payer } as const;
  await shop.charges.create({ ...slip, correlationId, Amount: '292.51' });
  await bank.pay(correlationId);
  const { data: payment } = await received('charge.paid');
  expect(payment).toMatchObject({ correlationId, amount: '292.51' });

  await shop.refunds.refundTransaction(payment.nsu, { amount: '92.51' }, { filterBy: 'NSU' });
  expect((await received('refund.settled')).data.amount).toBe('92.51');

  const scopes = ['read' as const, 'approve' as const];
  const { key } = await operator.bankAccounts.createKey('main', { name: 'Ana, treasury', scopes });
  const treasury = clientOf(key);
  await treasury.approvals.changePolicy({ aboveAmount: '100.00' });
  const beneficiaryAccount = bank.accounts[1]!.number;
  const supplier = { amount: '150.00', beneficiaryAccount, externalId: correlationId };
  const transfer = await shop.transfers.create(supplier, { idempotencyKey: correlationId });
  if (!isPending(transfer)) throw new Error('nobody had to approve it');
  const { approval } = await treasury.operations.get(transfer.id);
  const decision = { decision: 'approve', reason: 'invoice seen' } as const;
  const requestHash = approval?.requestHash ?? '';
  await treasury.approvals.decideOperation(transfer.id, { ...decision, requestHash });
  expect((await received('transfer.settled')).data.amount).toBe('150.00');
});
