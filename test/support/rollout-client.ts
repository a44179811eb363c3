// Business systems that send requests without a pause while instances are restarted: some keep
// their connection, some open one for each request. They repeat nothing: each failure shows.
import { Agent, request, type IncomingMessage } from 'node:http';
import { knownBeneficiaries } from '../contract/transfer-samples.js';
import { sampleChargeRequest } from './payments.js';

const apiKey = 'concilia-dev-key';
const timeoutMs = 30_000;

export interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

/** One request. Rejects when the connection is refused or reset. */
export function ask(
  url: string,
  agent: Agent | false,
  given: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Received> {
  const { method = 'GET', body, headers } = given;
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        ...{ method, agent, timeout: timeoutMs },
        headers: { 'x-service-api-key': apiKey, ...type, ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.once('error', reject);
    sent.once('timeout', () => sent.destroy(new Error('no response in time')));
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

export class RolloutClients {
  readonly failures: string[] = [];
  /** Of the transfers, each sent once. */
  readonly keys: string[] = [];
  readonly correlationIds: string[] = [];
  requests = 0;
  private isEnding = false;
  private readonly lanes: Promise<void>[];

  constructor(
    private readonly url: string,
    lanes: number,
  ) {
    this.lanes = Array.from({ length: lanes }, (_, lane) => this.run(lane));
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await Promise.all(this.lanes);
  }

  private async run(lane: number): Promise<void> {
    const agent = lane % 2 === 0 ? new Agent({ keepAlive: true, maxSockets: 1 }) : false;
    for (let turn = 0; !this.isEnding; turn += 1) {
      const id = `rollout-${lane}-${turn}`;
      this.keys.push(id);
      this.correlationIds.push(id);
      const { beneficiaryAccount } = knownBeneficiaries;
      const transfer = { amount: 0.01, beneficiaryAccount, externalId: id };
      await this.send(agent, '/baas/v1/charges', { body: sampleChargeRequest(id) });
      await this.send(agent, '/baas/api/v2/transfers', {
        ...{ body: transfer, headers: { IdempotencyKey: id } },
      });
      await this.send(agent, `/v1/charges/${id}`);
      await this.send(agent, '/v1/summary');
    }
    if (agent) agent.destroy();
  }

  private async send(
    agent: Agent | false,
    path: string,
    given: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<void> {
    const method = given.body === undefined ? 'GET' : 'POST';
    this.requests += 1;
    const answer = await ask(this.url + path, agent, { ...given, method }).catch(String);
    if (typeof answer === 'string') this.failures.push(`${method} ${path}: ${answer}`);
    else if (answer.status < 200 || answer.status > 299)
      this.failures.push(`${method} ${path}: ${answer.status} ${answer.text}`);
  }
}
