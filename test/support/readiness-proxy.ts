// A proxy in front of instances of the service, as simple as one can be: it sends each request to
// the next instance whose readiness is 200, over kept connections, and repeats nothing.
import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** As real proxies do: for so long it may send requests to an instance that is stopping. */
const pollMs = 1_000;

export class ReadinessProxy {
  /** By URL, with the requests in progress and all that were sent. */
  private readonly instances = new Map<
    string,
    { isReady: boolean; requests: number; sent: number; knownAfter: number }
  >();
  private readonly agent = new Agent({ keepAlive: true });
  private readonly server = createServer((request, response) => this.forward(request, response));
  private turn = 0;
  private isClosed = false;
  /** What an instance did not answer. */
  readonly failures: string[] = [];

  static async listen(): Promise<ReadinessProxy> {
    const proxy = new ReadinessProxy();
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  add(url: string): void {
    const instance = { isReady: false, requests: 0, sent: 0, knownAfter: 0 };
    this.instances.set(url, instance);
    void (async () => {
      while (!this.isClosed && this.instances.get(url) === instance) {
        const isReady = await fetch(`${url}/health/ready`, { headers: { connection: 'close' } })
          .then(({ ok }) => ok)
          .catch(() => false);
        instance.isReady = isReady || instance.sent < instance.knownAfter;
        await sleep(pollMs);
      }
    })();
  }

  isReady(url: string): boolean {
    return this.instances.get(url)?.isReady === true;
  }

  sentTo(url: string): number {
    return this.instances.get(url)?.sent ?? 0;
  }

  /** It learns that the instance is not ready after one more request to it, as the slowest do. */
  knowLate(url: string): void {
    const instance = this.instances.get(url);
    if (instance) instance.knownAfter = instance.sent + 1;
  }

  /** Resolves when the instance has no request any more. */
  async remove(url: string): Promise<void> {
    const instance = this.instances.get(url);
    this.instances.delete(url);
    while (instance && instance.requests > 0) await sleep(50);
  }

  close(): void {
    this.isClosed = true;
    this.server.closeAllConnections();
    this.server.close();
    this.agent.destroy();
  }

  private forward(request: IncomingMessage, response: ServerResponse): void {
    const ready = [...this.instances].filter(([, { isReady }]) => isReady);
    const [url, instance] = ready[(this.turn += 1) % ready.length] ?? [];
    const { method = '', url: path = '', headers } = request;
    const fail = (reason: string) => {
      this.failures.push(`${method} ${path}: ${reason}`);
      response.writeHead(502).end();
    };
    if (url === undefined || !instance) return fail('no instance is ready');
    instance.requests += 1;
    instance.sent += 1;
    const { connection: _, ...passed } = headers;
    const options = { agent: this.agent, method, headers: passed };
    const sent = send(url + path, options, (received) => {
      const { connection: __, 'keep-alive': ___, ...back } = received.headers;
      response.writeHead(received.statusCode ?? 502, back);
      received.pipe(response);
    });
    sent.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message));
    sent.once('close', () => (instance.requests -= 1));
    request.pipe(sent);
  }
}
