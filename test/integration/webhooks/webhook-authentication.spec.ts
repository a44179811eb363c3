// Authentication of webhooks that the sandbox bank sends: each scheme that it supports, and
// forgeries.
import { Buffer } from 'node:buffer';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Webhook } from 'standardwebhooks';
import {
  eventually,
  sandboxUnderTest,
  type SandboxUnderTest,
} from '../../contract/bank-under-test.js';
import { serviceDatabase, type ServiceDatabase } from '../../support/service-database.js';
import { storedBodies, webhooksApplication } from '../../support/webhooks-application.js';

const secret = '3f9c0d5e8b7a';

let service: ServiceDatabase;
let application: NestFastifyApplication;
let bank: SandboxUnderTest;
let url: string;

beforeAll(async () => {
  service = await serviceDatabase();
  bank = await sandboxUnderTest();
  const { prisma } = service.database;
  const accounts = {
    recentWebhookSecret: () => ({ account: null, secret: 'nobody' }),
    findWebhookSecret: async (slug: string) => ({
      account: await prisma.bankAccount.findUnique({ where: { slug } }),
      secret,
    }),
  };
  ({ application, url } = await webhooksApplication(service.database, accounts));
  await bank.call('POST', '/baas/api/v1/webhooks', {
    body: {
      eventType: 'PIX_RECEIVED',
      url,
      authorizationScheme: 'HEADER',
      authorization: `x-webhook-key: ${secret}`,
    },
  });
});
afterAll(async () => {
  await bank.stop();
  await application.close();
  await service.drop();
});
beforeEach(async () => {
  await service.database.prisma.webhookEvent.deleteMany();
  await bank.pool.query('DELETE FROM webhook_delivery');
});

const findDeliveries = async () =>
  (
    await bank.pool.query(
      'SELECT is_forged, state, last_outcome, body FROM webhook_delivery ORDER BY id',
    )
  ).rows;

it.each(['registered', 'header', 'bearer', 'basic', 'standard-webhooks'])(
  'accepts webhooks with the scheme %s, and rejects forged ones',
  async (webhookSigning) => {
    await bank.call('PATCH', '/sandbox/modes', { body: { webhookSigning } });
    await bank.call('POST', '/sandbox/faults', {
      body: { endpoint: 'webhooks', kind: 'webhook-forged', times: 1 },
    });
    await bank.call('POST', '/sandbox/pix/received', { body: { amount: 1.1 } });
    await eventually(async () =>
      expect(await findDeliveries()).toMatchObject([
        { is_forged: false, state: 'delivered', last_outcome: 'HTTP 200' },
        { is_forged: true, state: 'dead', last_outcome: 'HTTP 401' },
      ]),
    );
    const [genuine] = await findDeliveries();
    expect(await storedBodies(service.database)).toEqual([genuine.body]);
  },
);

it('rejects webhooks without a secret or a signature', async () => {
  await bank.call('PATCH', '/sandbox/modes', { body: { webhookSigning: 'none' } });
  await bank.call('POST', '/sandbox/pix/received', { body: { amount: 1.1 } });
  await eventually(async () =>
    expect(await findDeliveries()).toMatchObject([{ state: 'pending', last_outcome: 'HTTP 401' }]),
  );
  expect(await storedBodies(service.database)).toEqual([]);
});

describe('a signed webhook', () => {
  const body = '{"amount": 1.10}';
  const headers = (sentAt = new Date()): Record<string, string> => ({
    'content-type': 'application/json',
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
    'webhook-signature': new Webhook(Buffer.from(secret), { format: 'raw' }).sign(
      'msg_1',
      sentAt,
      body,
    ),
  });
  const post = async (
    requestHeaders: Record<string, string>,
    requestBody: string | Uint8Array = body,
  ) =>
    (
      await fetch(url, {
        method: 'POST',
        headers: requestHeaders,
        body: requestBody as string,
      })
    ).status;

  it('is verified over the raw bytes', async () => {
    expect(await post(headers())).toBe(200);
    expect(await storedBodies(service.database)).toEqual([body]);
    expect(await post(headers(), '{"amount":1.10}')).toBe(401);
  });

  it('gets 401 for an old, malformed or incomplete signature, even with the secret', async () => {
    expect(await post(headers(new Date(Date.now() - 301_000)))).toBe(401);
    expect(await post(headers(new Date(Date.now() + 310_000)))).toBe(401);
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      for (const malformed of ['', '\u00e7', 'v1', '1e400', 'v1,', ' , ', '-1'])
        expect(await post({ ...headers(), [name]: malformed })).toBe(401);
    for (const name of ['webhook-id', 'webhook-timestamp']) {
      const { [name]: _, ...others } = headers();
      expect(await post({ ...others, 'x-webhook-key': secret })).toBe(401);
    }
    expect(await post(headers(), new Uint8Array([0xff, 0xfe]))).toBe(401);
    expect(await storedBodies(service.database)).toEqual([]);
  });

  it('needs no signature when it has the secret', async () => {
    const { 'webhook-signature': _, ...others } = headers();
    expect(await post({ ...others, 'x-webhook-key': secret })).toBe(200);
  });
});
