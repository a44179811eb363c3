// Webhooks that a fault loses, delays, repeats, reorders or forges, and the modes of their
// authentication and body.
import type { IncomingHttpHeaders } from 'node:http';
import { Webhook } from 'standardwebhooks';
import {
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { pixSlip, slip } from '../../contract/samples.js';
import { listenHttp, type HttpListener } from '../../support/http-listener.js';

interface Received {
  headers: IncomingHttpHeaders;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

let bank: SandboxUnderTest;
let consumer: HttpListener;
let received: Received[];
/** The next response statuses of the consumer; 200 when the list is empty. */
let nextStatuses: number[];

beforeEach(async () => {
  received = [];
  nextStatuses = [];
  consumer = await listenHttp(({ headers, text }, response) => {
    received.push({ headers, text, body: JSON.parse(text) });
    response.writeHead(nextStatuses.shift() ?? 200).end();
  });
  bank = await sandboxUnderTest();
});
afterEach(async () => {
  await bank.stop();
  consumer.close();
});

const register = (eventType: string, changes: Record<string, unknown> = {}) =>
  bank.call('POST', '/baas/api/v1/webhooks', {
    body: {
      eventType,
      url: `${consumer.url}/`,
      authorizationScheme: 'HEADER',
      authorization: 'x-webhook-key: s3cret',
      ...changes,
    },
  });
const fault = (kind: string, changes: Record<string, unknown> = {}) =>
  bank.call('POST', '/sandbox/faults', { body: { endpoint: 'webhooks', kind, ...changes } });
const mode = (modes: Record<string, unknown>) =>
  bank.call('PATCH', '/sandbox/modes', { body: modes });
const receive = async (amount: number, account = '1000001') =>
  (await bank.call('POST', '/sandbox/pix/received', { body: { amount, account } })).body;
const advance = (duration: string) =>
  bank.call('POST', '/sandbox/clock', { body: { advance: duration } });
const freeze = () => bank.call('POST', '/sandbox/clock', { body: { frozen: true } });
const counts = async () => {
  const [first] = (await bank.call('GET', '/sandbox/faults')).body.faults;
  return [first.chances, first.fired];
};
const deliveries = async () =>
  (
    await bank.pool.query(
      'SELECT state, attempts, last_outcome, is_forged FROM webhook_delivery ORDER BY id',
    )
  ).rows;
const allDelivered = () =>
  eventually(async () => {
    const states = (await deliveries()).map(({ state }) => state);
    expect(states).not.toContain('pending');
  });
const amounts = () => received.map(({ body }) => body.amount);
/** Issues a charge and pays it. */
const pay = async (request: { correlationId: string }) => {
  await bank.call('POST', '/baas/v1/charges', { body: request });
  return (await bank.call('POST', `/baas/v1/charges/${request.correlationId}/pay`)).body;
};

describe('a webhook', () => {
  it('lost by a fault is never sent, although the money moved', async () => {
    await register('PIX_RECEIVED');
    await fault('webhook-lost', { times: 1 });
    const { nsu } = await receive(1);
    await receive(2);
    await allDelivered();
    expect(amounts()).toEqual([2]);
    expect(await deliveries()).toMatchObject([
      { state: 'dead', attempts: 0, last_outcome: 'lost by a fault' },
      { state: 'delivered' },
    ]);
    const line = await bank.call('GET', `/baas/api/v2/transactions?nsu=${nsu}`);
    expect(line.body).toHaveLength(1);
  });

  it('delayed by a fault is sent when the bank’s clock reaches its time, after later webhooks', async () => {
    await register('PIX_RECEIVED');
    await fault('webhook-late', { times: 1, delayMs: 60_000 });
    await freeze();
    await receive(1);
    await receive(2);
    await eventually(async () => expect(amounts()).toEqual([2]));
    await advance('PT59S');
    await receive(3);
    await eventually(async () => expect(amounts()).toEqual([2, 3]));
    await advance('PT1S');
    await eventually(async () => expect(amounts()).toEqual([2, 3, 1]));
  });

  it('reordered by a fault is sent after the next webhook', async () => {
    await register('PIX_RECEIVED');
    await fault('webhook-reordered', { times: 1, delayMs: 1_000 });
    await freeze();
    await receive(1);
    await receive(2);
    await eventually(async () => expect(amounts()).toEqual([2]));
    await advance('PT1S');
    await eventually(async () => expect(amounts()).toEqual([2, 1]));
  });

  it('sent twice has the same bytes', async () => {
    await register('PIX_RECEIVED');
    await fault('webhook-twice', { times: 1 });
    await receive(1);
    await allDelivered();
    expect(received).toHaveLength(2);
    expect(received[1]?.text).toBe(received[0]?.text);
  });

  it('forged by a fault is sent once beside the genuine webhook, with a wrong secret', async () => {
    await register('CHARGE_PAID');
    await fault('webhook-forged', { times: 1, endpoint: 'charges' });
    const request = pixSlip();
    nextStatuses = [401, 401];
    const { nsu, endToEndId } = await pay(request);
    await eventually(async () => expect(received).toHaveLength(2));
    const isGenuine = ({ headers }: Received) => headers['x-webhook-key'] === 's3cret';
    const [genuine, forgery] = [received.find(isGenuine), received.find((one) => !isGenuine(one))];
    expect(genuine?.body).toMatchObject({ nsu, endToEndId, amount: 150.75 });
    expect(forgery?.headers['x-webhook-key']).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(forgery?.body)).toEqual(Object.keys(genuine?.body));
    for (const name of ['nsu', 'correlationId', 'referenceId', 'endToEndId', 'amount'])
      expect(forgery?.body[name]).not.toBe(genuine?.body[name]);
    await advance('PT24H');
    await allDelivered();
    expect(received.slice(2).map(isGenuine)).toEqual([true]);
    expect(await deliveries()).toMatchObject([
      { state: 'delivered', is_forged: false, attempts: 2 },
      { state: 'dead', is_forged: true, attempts: 1, last_outcome: 'HTTP 401' },
    ]);
    expect((await bank.call('GET', '/sandbox/ledger')).body.audit.clean).toBe(true);
  });

  it('triggers a fault only when a delivery is written, and at the endpoint of its event', async () => {
    await fault('webhook-lost', { endpoint: 'charges', times: 1 });
    await pay(pixSlip());
    expect(await counts()).toEqual([0, 0]);
    await register('PIX_RECEIVED');
    await receive(1, '1000002');
    expect(await counts()).toEqual([0, 0]);
    await receive(1);
    expect(await counts()).toEqual([1, 1]);
    await bank.call('DELETE', '/sandbox/faults');
    for (const endpoint of ['transfers', 'batch', 'refunds'])
      await fault('webhook-lost', { endpoint });
    await receive(2);
    expect(await counts()).toEqual([0, 0]);
    await eventually(async () => expect(amounts()).toEqual([2]));
  });
});

describe('the mode webhookSigning', () => {
  it('replaces the registered scheme, with the registered secret', async () => {
    const token = { authorizationScheme: 'BEARER', authorization: 's3cret' };
    await register('PIX_RECEIVED', token);
    const basic = `Basic ${Buffer.from('bank:s3cret').toString('base64')}`;
    for (const [signing, headers] of [
      ['header', ['s3cret', undefined]],
      ['bearer', [undefined, 'Bearer s3cret']],
      ['basic', [undefined, basic]],
      ['none', [undefined, undefined]],
      ['registered', [undefined, 'Bearer s3cret']],
    ] as const) {
      await mode({ webhookSigning: signing });
      const count = received.length;
      await receive(1);
      await eventually(async () => expect(received).toHaveLength(count + 1));
      const last = received.at(-1)?.headers;
      expect([last?.['x-webhook-key'], last?.authorization]).toEqual(headers);
    }
  });

  it('signs per Standard Webhooks with the machine’s time, and with one id for all attempts', async () => {
    await register('PIX_RECEIVED');
    await mode({ webhookSigning: 'standard-webhooks' });
    await advance('P10D');
    nextStatuses = [500];
    await receive(1);
    await eventually(async () => expect((await deliveries())[0]?.last_outcome).toBe('HTTP 500'));
    await advance('PT1M');
    await fault('webhook-twice', { times: 1 });
    await receive(2);
    await allDelivered();
    expect(received).toHaveLength(4);
    const verifier = new Webhook(Buffer.from('s3cret'), { format: 'raw' });
    for (const { headers, text } of received) {
      expect(headers).not.toHaveProperty('x-webhook-key');
      expect(verifier.verify(text, headers as Record<string, string>)).toHaveProperty('amount');
    }
    const ids = received.filter(({ body }) => body.amount === 1);
    expect(new Set(ids.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
  });
});

describe('the mode webhookShape', () => {
  const paid = async (webhookShape: string, request: { correlationId: string }) => {
    await mode({ webhookShape });
    const payment = await pay(request);
    await eventually(async () => expect(received).toHaveLength(1));
    return { payment, body: received[0]?.body };
  };

  it('sends exactly v1, which has no eventType', async () => {
    await register('CHARGE_PAID');
    const request = pixSlip();
    const { payment, body } = await paid('v1', request);
    expect(body).toEqual({
      nsu: payment.nsu,
      correlationId: request.correlationId,
      referenceId: payment.endToEndId,
      source: 'SPI',
      amount: 150.75,
      createdAt: payment.createdAt,
      payer: { name: expect.any(String), document: '52998224725' },
      proof: {
        endToEndId: payment.endToEndId,
        transactionId: expect.any(String),
        key: expect.any(String),
        amount: 150.75,
        payer: expect.any(Object),
        payee: expect.any(Object),
      },
    });
  });

  it('sends exactly v2, which has no nsu', async () => {
    await register('CHARGE_PAID');
    const request = slip();
    const { body } = await paid('v2', request);
    expect(body).toEqual({
      eventType: 'CHARGE_PAID_V2',
      correlationId: request.correlationId,
      walletNumber: 112,
      yourNumber: request.yourNumber,
      ourNumber: expect.any(String),
      amount: 150.75,
      dueDate: request.dueDate,
      barCode: expect.stringMatching(/^\d{44}$/),
      digitableLine: expect.stringMatching(/^\d{47}$/),
      payer: { name: expect.any(String), document: '52998224725' },
    });
  });
});
