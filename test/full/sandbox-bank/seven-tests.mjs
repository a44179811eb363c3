// What a stranger writes for node:test: seven tests on one bank.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { BankError, startBank } from '@concilia/sandbox-bank';

let bank;
before(async () => {
  bank = await startBank({
    accounts: [
      { balance: '1000.00', apiKey: 'key-of-the-shop', pixKeys: ['shop@shop.example'] },
      { name: 'Ana Lima', document: '52998224725', balance: '0.00' },
    ],
    clock: { now: '2027-03-02T13:00:00Z' },
    preset: 'complete',
  });
});
beforeEach(() => bank.reset());
after(() => bank.stop());

const charge = (correlationId, amount = '100.00') =>
  bank.call('POST', '/baas/v1/charges', {
    ...{ type: 'BANKSLIP_PIX', correlationId, dueDate: '2027-03-10', Amount: amount },
    payer: { name: 'João da Silva', document: '52998224725' },
    lateFine: { type: 'Percentage', date: '2027-03-11', amount: '2' },
  });
const balances = async () => (await bank.ledger()).accounts.map(({ balance }) => balance);

test('the bank has the accounts, the clock and the keys that were asked for', async () => {
  assert.deepEqual(bank.apiKeys, ['key-of-the-shop', 'sandbox-dev-key-2']);
  assert.deepEqual(await balances(), ['1000.00', '0.00']);
  assert.equal((await bank.now()).toISOString().slice(0, 16), '2027-03-02T13:00');
});

test('a charge is paid, with its fine when it is late', async () => {
  await charge('order-1');
  assert.equal((await bank.pay('order-1')).amount, '100.00');
  await charge('order-2');
  await bank.advance('10 days');
  assert.equal((await bank.pay('order-2')).amount, '102.00');
  assert.deepEqual(await balances(), ['1202.00', '0.00']);
});

test('a Pix arrives by key and a dispute of it is sent as a webhook', async () => {
  const received = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    received.push(JSON.parse(Buffer.concat(chunks).toString()));
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await bank.call('POST', '/baas/api/v1/webhooks', {
    eventType: 'MED_REQUESTED',
    url: `http://127.0.0.1:${server.address().port}/`,
    ...{ authorizationScheme: 'HEADER', authorization: 'x-webhook-key: secret' },
  });
  const pix = await bank.receivePix({ amount: '0.10', key: 'shop@shop.example' });
  assert.equal(pix.amount, '0.10');
  await bank.dispute({ endToEndId: pix.endToEndId });
  while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.match(JSON.stringify(received), new RegExp(pix.endToEndId));
  server.close();
});

test('a refusal says why', async () => {
  await assert.rejects(bank.pay('unknown'), (error) => {
    assert.ok(error instanceof BankError);
    return error.status === 404;
  });
  await assert.rejects(bank.receivePix({ amount: '1.001' }), TypeError);
  await assert.rejects(bank.advance('two days'), TypeError);
});

test('a fault fires as often as it was asked to', async () => {
  await bank.fault({ kind: 'error-before-effect', endpoint: 'charges', times: 1 });
  await assert.rejects(charge('order-3'), BankError);
  await charge('order-3');
  await bank.removeFaults();
});

test('another account has its own money', async () => {
  await bank.receivePix({ amount: '5.00', account: '1000002' });
  assert.deepEqual(await balances(), ['1000.00', '5.00']);
});

test('a reset leaves nothing of it', async () => {
  const { movements, audit } = await bank.ledger();
  assert.deepEqual([movements, audit.clean], [[], true]);
});
