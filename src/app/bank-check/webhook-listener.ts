// The address at which the bank under check reports payments. It is registered for the check and
// removed after it; an earlier registration is not touched.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  createWebhookRegistration,
  deleteWebhookRegistration,
  listWebhookRegistrations,
} from '../../bank-contract/webhook-registrations.js';
import { isJsonObject } from '../../platform/json/exact-json.js';
import { CommandFailure } from '../exit.js';
import type { BankClient } from './bank-client.js';
import { isSuccess } from './observations.js';

export interface ListenerAddress {
  /** Where the bank reaches the listener. */
  url: string;
  host: string;
  port: number;
}

const eventType = 'CHARGE_PAID';
const header = 'x-webhook-key';
const longestBody = 1_048_576;

export class WebhookListener {
  readonly arrivals: { correlationId: string; atMs: number }[] = [];
  private readonly secret = randomBytes(24).toString('hex');
  private readonly url: string;
  private server: Server | null = null;

  constructor(
    private readonly client: BankClient,
    private readonly address: ListenerAddress,
  ) {
    this.url = `${address.url.replace(/\/+$/, '')}/${randomBytes(8).toString('hex')}`;
  }

  /** Whether the bank has taken the registration. */
  async open(): Promise<boolean> {
    const { host, port } = this.address;
    const server = createServer((request, response) => {
      this.receive(request).then(
        (isTaken) => response.writeHead(isTaken ? 200 : 401).end(),
        () => response.destroy(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', ({ message }) =>
        reject(new CommandFailure(`--webhook-listen: ${message}`)),
      );
      server.listen(port, host, resolve);
    });
    this.server = server;
    const body = {
      ...{ eventType, url: this.url, authorizationScheme: 'HEADER' as const },
      authorization: `${header}: ${this.secret}`,
    };
    return isSuccess(await this.client.ask(createWebhookRegistration, { body }));
  }

  /** Removes the registration, whose id the bank need not have answered. */
  async close(): Promise<void> {
    this.server?.closeAllConnections();
    this.server?.close();
    const { json } = await this.client.ask(listWebhookRegistrations, {});
    for (const one of Array.isArray(json) ? (json as unknown[]) : [])
      if (isJsonObject(one) && one.url === this.url)
        await this.client.ask(deleteWebhookRegistration, { params: { id: String(one.id) } });
  }

  /** False for what does not carry the secret: a forgery is no arrival. */
  private async receive(request: IncomingMessage): Promise<boolean> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > longestBody) throw new Error('the body is too long');
      chunks.push(chunk);
    }
    const given = Buffer.from(String(request.headers[header] ?? ''));
    const secret = Buffer.from(this.secret);
    if (given.length !== secret.length || !timingSafeEqual(given, secret)) return false;
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    if (isJsonObject(body) && typeof body.correlationId === 'string')
      this.arrivals.push({ correlationId: body.correlationId, atMs: performance.now() });
    return true;
  }
}
