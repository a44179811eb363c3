// A client's end of the bank's notifications: keeps the bodies that it is sent, by the path that they were registered on.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually, type BankUnderTest } from './bank-under-test.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

export class WebhookConsumer {
  private readonly received: { path: string; body: Body }[] = [];

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<WebhookConsumer> {
    const server = createServer();
    const consumer = new WebhookConsumer(server);
    server.on('request', (request, response) => {
      let text = '';
      request.on('data', (chunk: Buffer) => (text += chunk.toString()));
      request.on('end', () => {
        consumer.received.push({ path: request.url ?? '', body: JSON.parse(text) });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return consumer;
  }

  /** Registers itself for an event type of the account of `apiKey`. */
  async register(bank: BankUnderTest, eventType: string, apiKey: string): Promise<void> {
    const { port } = this.server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/${apiKey}/${eventType}`;
    const answer = await bank.call('POST', '/baas/api/v1/webhooks', {
      apiKey,
      body: { eventType, url, authorizationScheme: 'NONE' },
    });
    expect(answer.status).toBe(200);
  }

  /** What the account was sent of that type and about `id`, once it has come. */
  async find(eventType: string, apiKey: string, id: string): Promise<Body> {
    return eventually(async () => {
      const found = this.received.find(
        ({ path, body }) =>
          path === `/${apiKey}/${eventType}` && [body.id, body.endToEndId].includes(id),
      );
      expect(found).toBeDefined();
      return found?.body as Body;
    });
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
