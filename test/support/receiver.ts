// A webhook endpoint of a business system. It records the events that it receives, and whether
// their signatures are valid.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedEvent {
  webhookId: string;
  type: string;
  data: Record<string, unknown>;
  isSigned: boolean;
  receivedAt: number;
}

export class Receiver {
  readonly events: ReceivedEvent[] = [];
  /** The endpoint's secret. The test sets it once the service has returned it. */
  secret = '';

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        receiver.record(Buffer.concat(chunks).toString('utf8'), request.headers);
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  /** The events of a type. A repeated delivery of an event counts once. */
  distinct(type: string): ReceivedEvent[] {
    const byId = new Map(
      this.events.filter((event) => event.type === type).map((event) => [event.webhookId, event]),
    );
    return [...byId.values()];
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private record(body: string, headers: NodeJS.Dict<string | string[]>): void {
    const { type, data } = JSON.parse(body) as Pick<ReceivedEvent, 'type' | 'data'>;
    this.events.push({
      webhookId: String(headers['webhook-id']),
      type,
      data,
      isSigned: this.hasValidSignature(body, headers),
      receivedAt: Date.now(),
    });
  }

  private hasValidSignature(body: string, headers: NodeJS.Dict<string | string[]>): boolean {
    try {
      new Webhook(this.secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  }
}
