// From a charge to its supplier, against a service on its sandbox bank: `npm start`.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Concilia, constructEvent, isPending, type ConciliaEvent } from '@concilia/client';

const { CONCILIA_URL: baseUrl = 'http://127.0.0.1:3000' } = process.env;
const operator = new Concilia({ baseUrl, adminKey: 'concilia-dev-admin' });
const shop = new Concilia({ baseUrl, apiKey: 'concilia-dev-key' });
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

beforeAll(() => new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve)));
afterAll(() => endpoint.close().closeAllConnections());

test('a customer pays, gets a part back, and the supplier is paid after an approval', async () => {
  const { port } = endpoint.address() as AddressInfo;
  ({ secret } = await shop.notifications.createWebhookEndpoint({
    url: `http://127.0.0.1:${port}`,
  }));
  const correlationId = `order-${randomUUID()}`;
  const payer = { name: 'Maria da Silva', document: '12345678909' };
  const slip = { type: 'BANKSLIP_PIX', dueDate: '2030-12-31', payer } as const;
  await shop.charges.create({ ...slip, correlationId, Amount: '292.51' });
  await shop.charges.pay(correlationId);
  const { data: payment } = await received('charge.paid');
  expect(payment).toMatchObject({ correlationId, amount: '292.51' });

  await shop.refunds.refundTransaction(payment.nsu, { amount: '92.51' }, { filterBy: 'NSU' });
  expect((await received('refund.settled')).data.amount).toBe('92.51');

  const scopes = ['read' as const, 'approve' as const];
  const { key } = await operator.bankAccounts.createKey('main', { name: 'Ana, treasury', scopes });
  const treasury = new Concilia({ baseUrl, apiKey: key });
  await treasury.approvals.changePolicy({ aboveAmount: '100.00' });
  const supplier = { amount: '150.00', beneficiaryAccount: '1000002', externalId: correlationId };
  const transfer = await shop.transfers.create(supplier, { idempotencyKey: correlationId });
  if (!isPending(transfer)) throw new Error('nobody had to approve it');
  const { approval } = await treasury.operations.get(transfer.id);
  const decision = { decision: 'approve', reason: 'invoice seen' } as const;
  const requestHash = approval?.requestHash ?? '';
  await treasury.approvals.decideOperation(transfer.id, { ...decision, requestHash });
  expect((await received('transfer.settled')).data.amount).toBe('150.00');
});
