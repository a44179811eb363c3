// Many accounts whose bank accepts connections and never answers, beside one whose bank works: the
// whole service with job workers and timers, in front of a sandbox bank.
import { createServer, request as requestHttp, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Addresses } from '../../src/platform/http/http.js';
import { Timers } from '../../src/platform/queue/timers.js';
import { JobWorkers } from '../../src/platform/queue/job-workers.js';
import { manualTransfer } from '../contract/transfer-samples.js';
import { operatorOf } from '../support/operator.js';
import { sampleChargeRequest } from '../support/payments.js';
import { serviceApplication, type ServiceApplication } from '../support/service-application.js';
import { until } from '../support/until.js';

const hangingAccounts = 20;
/** These also have a charge whose outcome is unknown, and the first of them a run. */
const accountsWithCharge = 18;
const accountsWithRun = 3;

/** Passes the calls of an account that works on to the sandbox bank. */
class HangingBank {
  readonly hanging = new Map<string, number>();
  /** Until then, calls of the other accounts get 500. */
  isHanging = false;
  private readonly server: Server;

  constructor(bankUrl: string) {
    this.server = createServer((request, response) => {
      if (!String(request.headers['x-service-api-key']).startsWith('key-of-account-')) {
        const { method, headers } = request;
        const forwarded = requestHttp(bankUrl + request.url, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        });
        request.pipe(forwarded);
      } else if (this.isHanging) {
        const path = `${request.method} ${request.url?.split('?')[0]}`;
        this.count(path, 1);
        request.socket.once('close', () => this.count(path, -1));
      } else response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Calls without an answer, of the paths that contain a text. */
  open(path: string): number {
    const found = [...this.hanging].filter(([name]) => name.includes(path));
    return found.reduce((sum, [, calls]) => sum + calls, 0);
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private count(path: string, change: number): void {
    this.hanging.set(path, (this.hanging.get(path) ?? 0) + change);
  }
}

describe('an account whose bank works, beside accounts whose bank hangs', () => {
  let service: ServiceApplication;
  let bank: HangingBank;

  beforeAll(async () => {
    service = await serviceApplication();
    bank = new HangingBank(await service.sandbox.application.getUrl());
    const addresses = service.application.get(Addresses);
    addresses.bankBaseUrl = addresses.bankWhitelabelUrl = await bank.listen();
    const { addAccount, createKey } = operatorOf(() => service);
    for (let index = 0; index < hangingAccounts; index += 1) {
      const { slug } = await addAccount();
      if (index >= accountsWithCharge) continue;
      const { key: apiKey } = await createKey(slug, { scopes: ['read', 'charge', 'reconcile'] });
      const body = sampleChargeRequest(`of-${slug}`);
      const charge = await service.call('POST', '/baas/v1/charges', { apiKey, body });
      expect(charge.status).toBe(202);
      if (index >= accountsWithRun) continue;
      const run = await service.call('POST', '/v1/reconciliations', { apiKey, body: {} });
      expect(run.status).toBe(202);
    }
    bank.isHanging = true;
    service.application.get(JobWorkers).start();
    service.application.get(Timers).start();
  }, 60_000);
  afterAll(async () => {
    bank.close();
    await service.stop();
  }, 60_000);

  it('is reconciled and sends money while calls of most others hang', async () => {
    const doMostHang = () =>
      bank.open('/transactions') > hangingAccounts / 2 &&
      bank.open('/charges') > accountsWithCharge / 2;
    await until('calls of most other accounts hang', doMostHang, 60_000);
    const { body: charge } = await service.call('POST', '/baas/v1/charges', {
      body: sampleChargeRequest('order-1'),
    });
    expect(charge.correlationId).toBe('order-1');
    await service.sandbox.call('POST', '/baas/v1/charges/order-1/pay');
    await until(
      'the charge is settled',
      async () => {
        const { body } = await service.call('GET', '/v1/charges/order-1');
        return body.settlement === 'settled';
      },
      60_000,
    );
    const { body: transfer } = await service.call('POST', '/baas/api/v2/transfers', {
      body: manualTransfer({ externalId: 'transfer-1' }),
      headers: { Prefer: 'respond-async', IdempotencyKey: '00000000-0000-4000-8000-000000000001' },
    });
    await until(
      'the transfer is settled',
      async () => {
        const { body } = await service.call('GET', `/v1/transfers/${transfer.id}`);
        return body.settlement === 'settled';
      },
      60_000,
    );
    expect((await service.call('POST', '/v1/reconciliations', { body: {} })).status).toBe(202);
    await until(
      'the run is finished',
      async () => {
        const { rows } = await service.database.pool.query(
          `SELECT 1 FROM reconciliation_run r JOIN bank_account a ON a.id = r.account_id
         WHERE a.slug = 'main' AND r.state = 'finished'`,
        );
        return rows.length > 0;
      },
      60_000,
    );
  }, 300_000);

  it('is answered 504 when it is read', async () => {
    const { addAccount, createKey } = operatorOf(() => service);
    const { slug } = await addAccount();
    const { key: apiKey } = await createKey(slug, { scopes: ['read'] });
    const { status } = await service.call('GET', '/baas/api/v1/balances', { apiKey });
    expect(status).toBe(504);
  }, 60_000);
});
