// A client that receives the bank's webhooks. It stores the bodies by the path of their
// registration.
import { listenHttp, type HttpListener } from '../support/http-listener.js';
import { eventually, type BankUnderTest } from './bank-under-test.js';

// oxlint-disable-next-line typescript/no-explicit-any
type WebhookJson = any;

export class WebhookConsumer {
  private readonly received: { path: string; body: WebhookJson }[] = [];

  private constructor(private readonly listener: HttpListener) {}

  static async listen(): Promise<WebhookConsumer> {
    const listener = await listenHttp(({ path, text }, response) => {
      consumer.received.push({ path, body: JSON.parse(text) });
      response.end();
    });
    const consumer = new WebhookConsumer(listener);
    return consumer;
  }

  /** Registers the consumer for an event type of the account of `apiKey`. */
  async register(bank: BankUnderTest, eventType: string, apiKey: string): Promise<void> {
    const url = `${this.listener.url}/${apiKey}/${eventType}`;
    const response = await bank.call('POST', '/baas/api/v1/webhooks', {
      apiKey,
      body: { eventType, url, authorizationScheme: 'NONE' },
    });
    expect(response.status).toBe(200);
  }

  /**
   * Waits for the webhook of this type that was sent to the account about `id`, and returns its
   * body.
   */
  async find(eventType: string, apiKey: string, id: string): Promise<WebhookJson> {
    return eventually(async () => {
      const found = this.received.find(
        ({ path, body }) =>
          path === `/${apiKey}/${eventType}` && [body.id, body.endToEndId].includes(id),
      );
      expect(found).toBeDefined();
      return found?.body as WebhookJson;
    });
  }

  /** The bodies received so far about `id`. */
  about(id: string): WebhookJson[] {
    return this.received.map(({ body }) => body).filter((body) => body.endToEndId === id);
  }

  close(): void {
    this.listener.close();
  }
}
