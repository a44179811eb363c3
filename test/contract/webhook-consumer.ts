// A client's end of the bank's notifications: keeps the bodies that it is sent, by the path that they were registered on.
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import { eventually, type BankUnderTest } from './bank-under-test.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Body = any;

export class WebhookConsumer {
  private readonly received: { path: string; body: Body }[] = [];

  private constructor(private readonly listener: HttpListener) {}

  static async listen(): Promise<WebhookConsumer> {
    const listener = await listenHttp(({ path, text }, response) => {
      consumer.received.push({ path, body: JSON.parse(text) });
      response.end();
    });
    const consumer = new WebhookConsumer(listener);
    return consumer;
  }

  /** Registers itself for an event type of the account of `apiKey`. */
  async register(bank: BankUnderTest, eventType: string, apiKey: string): Promise<void> {
    const url = `${this.listener.url}/${apiKey}/${eventType}`;
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
    this.listener.close();
  }
}
