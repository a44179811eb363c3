// The least that reports a payment: a webhook arrives, the newest page of the statement is read,
// its new lines are inserted, and a signed event is posted. It leaves out everything else:
// authentication, the storage of webhooks, the balance chain, matching, retries.
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';

const pageLines = 20;

interface Line {
  nsu: number;
  amount: number;
  createdAt: string;
}

export class SettleYardstick {
  private waiting: Promise<void> = Promise.resolve();

  private constructor(
    private readonly server: Server,
    private readonly pool: pg.Pool,
    private readonly statementUrl: string,
    private readonly apiKey: string,
    private readonly eventUrl: string,
  ) {}

  /** Registers its webhook at the bank for the account of the key. */
  static async start(
    pool: pg.Pool,
    { bankUrl, apiKey, eventUrl }: { bankUrl: string; apiKey: string; eventUrl: string },
  ): Promise<SettleYardstick> {
    await pool.query('CREATE TABLE settled (nsu bigint PRIMARY KEY, cents bigint, at timestamptz)');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const statementUrl = `${bankUrl}/baas/api/v2/transactions?page=1&limit=${pageLines}`;
    const yardstick = new SettleYardstick(server, pool, statementUrl, apiKey, eventUrl);
    server.on('request', (request, response) => {
      request.resume();
      request.on('end', () => {
        response.end();
        yardstick.waiting = yardstick.waiting.then(() => yardstick.settle());
      });
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const registered = await fetch(`${bankUrl}/baas/api/v1/webhooks`, {
      method: 'POST',
      headers: { 'x-service-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ eventType: 'PIX_RECEIVED', url, authorizationScheme: 'NONE' }),
    });
    if (!registered.ok) throw new Error(`no webhook was registered: ${await registered.text()}`);
    return yardstick;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
    await this.waiting;
  }

  private async settle(): Promise<void> {
    const headers = { 'x-service-api-key': this.apiKey };
    const lines = (await (await fetch(this.statementUrl, { headers })).json()) as Line[];
    const { rows } = await this.pool.query<{ nsu: string; cents: string }>(
      `INSERT INTO settled SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[])
       ON CONFLICT DO NOTHING RETURNING nsu, cents`,
      [
        lines.map(({ nsu }) => nsu),
        lines.map(({ amount }) => Math.round(amount * 100)),
        lines.map(({ createdAt }) => createdAt),
      ],
    );
    for (const { nsu, cents } of rows) {
      const body = JSON.stringify({ type: 'settled', data: { nsu, cents } });
      const signature = createHmac('sha256', 'secret').update(body).digest('base64');
      await fetch(this.eventUrl, { method: 'POST', headers: { signature }, body });
    }
  }
}
