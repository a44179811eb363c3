// Webhook deliveries of the sandbox: bodies, authentication, retries and restarts.
import { jest } from '@jest/globals';
import type { IncomingHttpHeaders } from 'node:http';
import { BankClock } from '../../../src/sandbox/clock/bank-clock.service.js';
import {
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { newKeyHeader, pixSlip, slip, staticQr } from '../../contract/samples.js';
import { listenHttp, type HttpListener } from '../../support/http-listener.js';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  at: number;
}

let bank: SandboxUnderTest;
let consumer: HttpListener;
let received: Received[];
/** The next responses of the consumer; 200 when the list is empty. */
let nextResponses: (number | 'hang')[];
let url: string;

beforeEach(async () => {
  received = [];
  nextResponses = [];
  consumer = await listenHttp(({ path, headers, text }, response) => {
    received.push({ path, headers, body: JSON.parse(text), at: Date.now() });
    const next = nextResponses.shift() ?? 200;
    if (next === 'hang') return;
    response.writeHead(next, next === 302 ? { location: `${url}/elsewhere` } : {}).end();
  });
  url = consumer.url;
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
      url: `${url}/${eventType}`,
      authorizationScheme: 'HEADER',
      authorization: 'x-webhook-key: s3cret',
      ...changes,
    },
  });
const receive = (body: unknown) => bank.call('POST', '/sandbox/pix/received', { body });
const deliveries = async () =>
  (
    await bank.pool.query(
      'SELECT state, attempts, last_outcome, next_attempt_at FROM webhook_delivery ORDER BY id',
    )
  ).rows;
/** Moves the bank's clock forward by `ms`, past pending retries. */
const passTime = (ms: number) => {
  const until = Date.now() + ms;
  jest.spyOn(bank.application.get(BankClock), 'now').mockReturnValue(new Date(until));
};
afterEach(() => jest.restoreAllMocks());

it('sends the payment of a charge to both registrations, each by its own scheme', async () => {
  await register('CHARGE_PAID');
  await register('PIX_RECEIVED', { authorizationScheme: 'BEARER', authorization: 'token' });
  const request = pixSlip();
  await bank.call('POST', '/baas/v1/charges', { body: request });
  const paid = (await bank.call('POST', `/baas/v1/charges/${request.correlationId}/pay`)).body;
  await eventually(async () => expect(received).toHaveLength(2));
  const byPath = Object.fromEntries(received.map((one) => [one.path, one]));
  const party = { holder: { document: '52998224725', name: 'João da Silva' } };
  expect(byPath['/CHARGE_PAID']).toMatchObject({
    headers: { 'x-webhook-key': 's3cret', 'content-type': 'application/json' },
    body: {
      eventType: 'CHARGE_PAID',
      nsu: paid.nsu,
      correlationId: request.correlationId,
      referenceId: paid.endToEndId,
      endToEndId: paid.endToEndId,
      source: 'SPI',
      walletNumber: 112,
      yourNumber: request.yourNumber,
      amount: 150.75,
      createdAt: paid.createdAt,
      payer: { name: 'João da Silva', document: '52998224725' },
      proof: { endToEndId: paid.endToEndId, amount: 150.75, payer: party },
    },
  });
  expect(byPath['/PIX_RECEIVED']).toMatchObject({
    headers: { authorization: 'Bearer token' },
    body: {
      eventType: 'PIX_RECEIVED',
      correlationId: request.correlationId,
      referenceId: paid.endToEndId,
      endToEndId: paid.endToEndId,
      amount: 150.75,
      proof: {
        eventType: 'PIX_PAYMENT_EFFECTIVE',
        idempotencyKey: paid.endToEndId,
        status: 'PIX_EFFECTIVE',
        payer: party,
      },
    },
  });
  await eventually(async () =>
    expect(await deliveries()).toEqual([
      expect.objectContaining({ state: 'delivered', attempts: 1, last_outcome: 'HTTP 200' }),
      expect.objectContaining({ state: 'delivered', attempts: 1 }),
    ]),
  );
});

it('sends the overdue and the clearing payment of a slip', async () => {
  await register('CHARGE_PAID');
  await register('PIX_RECEIVED');
  await register('CHARGE_OVERDUE');
  const request = slip();
  const path = `/baas/v1/charges/${request.correlationId}`;
  await bank.call('POST', '/baas/v1/charges', { body: request });
  await bank.call('PUT', `${path}/expire`);
  await bank.call('POST', `${path}/pay`);
  await eventually(async () => expect(received).toHaveLength(2));
  expect(received.map(({ body }) => body)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        eventType: 'CHARGE_OVERDUE',
        correlationId: request.correlationId,
      }),
      expect.objectContaining({
        eventType: 'CHARGE_PAID',
        source: 'PCR',
        endToEndId: null,
        referenceId: expect.any(String),
        proof: null,
      }),
    ]),
  );
});

it('sends the payment of a static QR code with its correlationId, and an unexpected Pix without', async () => {
  await register('PIX_RECEIVED');
  const request = staticQr();
  await bank.call('POST', '/baas/api/v2/pix/qrcode/static', {
    body: request,
    headers: newKeyHeader(),
  });
  await receive({ correlationId: request.correlationId });
  await receive({ amount: 9.99 });
  await eventually(async () => expect(received).toHaveLength(2));
  expect(received.map(({ body }) => body.correlationId).sort()).toEqual([
    request.correlationId,
    null,
  ]);
});

it('writes no delivery without a registration of the account or without a movement', async () => {
  await register('PIX_RECEIVED');
  await receive({ amount: 1, account: '1000002' });
  await receive({ amount: 0 });
  expect(await deliveries()).toEqual([]);
});

it('retries with the same body until it is accepted, and never follows a redirect', async () => {
  await register('PIX_RECEIVED');
  nextResponses = [500, 302];
  await receive({ amount: 1 });
  // The next attempt is timed when the outcome is recorded: time passes after that.
  const outcomeOf = (attempts: number, outcome: string) =>
    eventually(async () =>
      expect(await deliveries()).toEqual([
        expect.objectContaining({ state: 'pending', attempts, last_outcome: outcome }),
      ]),
    );
  await outcomeOf(1, 'HTTP 500');
  passTime(60_000);
  await outcomeOf(2, 'HTTP 302');
  expect(received).toHaveLength(2);
  passTime(3_600_000);
  await eventually(async () => expect(received).toHaveLength(3));
  expect(received.map(({ path }) => path)).toEqual(Array(3).fill('/PIX_RECEIVED'));
  expect(received[1]?.body).toEqual(received[0]?.body);
  expect(received[2]?.body).toEqual(received[0]?.body);
  await eventually(async () =>
    expect(await deliveries()).toEqual([
      expect.objectContaining({ state: 'delivered', attempts: 3 }),
    ]),
  );
});

it('times out a consumer that does not answer, and sends other deliveries meanwhile', async () => {
  await register('PIX_RECEIVED');
  nextResponses = ['hang'];
  await receive({ amount: 1 });
  await eventually(async () => expect(received).toHaveLength(1));
  await receive({ amount: 2 });
  await eventually(async () => expect(received).toHaveLength(2));
  await eventually(async () => {
    const [first] = await deliveries();
    expect(first).toMatchObject({ state: 'pending', attempts: 1, last_outcome: 'TimeoutError' });
  });
});

it('sends pending deliveries after a restart', async () => {
  await register('PIX_RECEIVED');
  nextResponses = [503];
  await receive({ amount: 1 });
  await eventually(async () => expect((await deliveries())[0]?.last_outcome).toBe('HTTP 503'));
  await bank.application.close();
  const restartedBank = await bank.start();
  try {
    await eventually(async () => expect(received).toHaveLength(2));
    await eventually(async () => expect((await deliveries())[0]?.state).toBe('delivered'));
  } finally {
    await restartedBank.close();
  }
});

it('moves money while registrations are created and removed concurrently', async () => {
  let isDone = false;
  const replaceRegistration = async () => {
    while (!isDone) {
      const { body } = await register('PIX_RECEIVED');
      if (body?.id) await bank.call('DELETE', `/baas/api/v1/webhooks/${body.id}`);
    }
  };
  const replacing = [replaceRegistration(), replaceRegistration()];
  const responses = await Promise.all(Array.from({ length: 100 }, () => receive({ amount: 1 })));
  isDone = true;
  await Promise.all(replacing);
  expect(responses.map(({ status }) => status)).toEqual(Array(100).fill(200));
});

it('sends each delivery once when two processes of the bank run', async () => {
  const second = await bank.start();
  try {
    await register('PIX_RECEIVED');
    await Promise.all(Array.from({ length: 50 }, () => receive({ amount: 1 })));
    await eventually(async () => {
      const states = (await deliveries()).map(({ state }) => state);
      expect(states).toEqual(Array(50).fill('delivered'));
    });
    expect(received).toHaveLength(50);
  } finally {
    await second.close();
  }
});
