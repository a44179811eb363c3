// Delivers events: signed per Standard Webhooks, at least once, to an address that was judged when it is
// connected to, following no redirect and reading next to nothing of what the endpoint answers.
import { lookup as resolve } from 'node:dns/promises';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import axios, { type AxiosInstance } from 'axios';
import { Webhook } from 'standardwebhooks';
import { BankService } from '../bank/bank.service.js';
import { Database } from '../database.service.js';
import { Clock } from '../platform/clock.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { readRetryAfter } from '../platform/retry-after.js';
import { SecretBox } from '../platform/secret-box.js';
import type { JobPayload } from '../queues.js';
import { isAddressAllowed, checkEndpointUrl } from './address-guard.js';
import { pauseAfterAttemptMs } from './delivery-schedule.js';
import {
  claimDeliveries,
  recordResult,
  type ClaimedDelivery,
  type DeliveryResult,
} from './events.queries.js';

const timeoutMs = 15_000;
/** Longer than an attempt can last. */
const leaseMs = timeoutMs + 5_000;
const atOnce = 10;
const turnMs = 20_000;
const slowMs = 5_000;
const restMs = 30_000;
const gone = 410;

interface Endpoint {
  accountId: number;
  id: string;
  url: string;
  secret: string;
}

@Injectable()
export class DeliveryService implements OnModuleDestroy, OnApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly client: AxiosInstance;
  private readonly agents: { httpAgent: HttpAgent; httpsAgent: HttpsAgent };
  private readonly isLoopbackAllowed: boolean;

  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly clock: Clock,
    private readonly log: Log,
    bank: BankService,
  ) {
    this.isLoopbackAllowed = bank.profile.isOnLoopback;
    const lookup = this.guardedLookup();
    this.agents = {
      httpAgent: new HttpAgent({ keepAlive: true, lookup }),
      httpsAgent: new HttpsAgent({ keepAlive: true, lookup }),
    };
    this.client = axios.create({
      ...this.agents,
      maxRedirects: 0,
      transformRequest: [(body: unknown) => body],
      // Only the status counts: what else an endpoint answers is neither read nor unpacked.
      responseType: 'stream',
      decompress: false,
      validateStatus: () => true,
      proxy: false,
    });
  }

  /**
   * Delivers what is due to one endpoint, until nothing is or its turn is over: a slow endpoint with a long
   * backlog does not keep a place for itself.
   */
  @OnJob('deliverEvents')
  async deliverDue({ accountId, endpointId }: JobPayload<'deliverEvents'>): Promise<void> {
    const endpoint = await this.database.prisma.webhookEndpoint.findFirst({
      where: { accountId, id: endpointId, isEnabled: true, deletedAt: null },
    });
    if (!endpoint) return;
    const turnEndsAt = Date.now() + turnMs;
    while (Date.now() < turnEndsAt && !this.stopping.signal.aborted) {
      const claimed = await claimDeliveries(
        this.database.prisma,
        { accountId, endpointId },
        { limit: atOnce, leaseMs },
      );
      if (claimed.length === 0) return;
      const startedAt = Date.now();
      let results = await Promise.all(claimed.map((one) => this.attempt(endpoint, one)));
      // What was cut off by our own end is nobody's failure: its lease runs out, and it is made again.
      if (this.stopping.signal.aborted) results = results.filter(({ status }) => status !== null);
      for (const result of results) await recordResult(this.database.prisma, accountId, result);
      if (results.some(({ status }) => status === gone)) return this.disable(endpoint);
      const isSilent = results.length > 0 && results.every(({ status }) => status === null);
      if (isSilent && Date.now() - startedAt > slowMs) return this.rest(endpoint);
    }
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }

  private async attempt(endpoint: Endpoint, delivery: ClaimedDelivery): Promise<DeliveryResult> {
    const { status, error, retryAfterSeconds } = await this.post(endpoint, delivery);
    const { id, attempt } = delivery;
    if (status !== null && status >= 200 && status < 300)
      return { id, attempt, status, error: null, state: 'delivered', retryInMs: null };
    const retryInMs = pauseAfterAttemptMs(attempt, retryAfterSeconds, Math.random());
    return {
      id,
      attempt,
      status,
      error,
      state: retryInMs === null ? 'dead' : 'pending',
      retryInMs,
    };
  }

  private async post(endpoint: Endpoint, delivery: ClaimedDelivery) {
    const body = envelope(delivery);
    const now = this.clock.now();
    const refused = checkEndpointUrl(endpoint.url, this.isLoopbackAllowed);
    if (!refused.ok) return { status: null, error: 'address_refused', retryAfterSeconds: null };
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.client.post<Readable>(endpoint.url, body, {
        headers: {
          'content-type': 'application/json',
          'user-agent': 'concilia',
          'webhook-id': delivery.eventId,
          'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
          'webhook-signature': new Webhook(this.secretBox.open(endpoint.secret)).sign(
            delivery.eventId,
            now,
            body,
          ),
        },
        signal: AbortSignal.any([timeout, this.stopping.signal]),
      });
      response.data.destroy();
      const retryAfterSeconds = readRetryAfter(response.headers['retry-after'], now);
      const error = response.status < 300 ? null : `status_${response.status}`;
      return { status: response.status, error, retryAfterSeconds };
    } catch (error) {
      this.log.info({ err: error, endpointId: endpoint.id }, 'an endpoint did not take an event');
      if (timeout.aborted) return { status: null, error: 'timeout', retryAfterSeconds: null };
      const code = axios.isAxiosError(error) ? error.code : undefined;
      return { status: null, error: (code ?? 'no_answer').toLowerCase(), retryAfterSeconds: null };
    }
  }

  /** 410 is the endpoint's word that it wants nothing more. */
  private async disable({ accountId, id }: Endpoint): Promise<void> {
    await this.database.prisma.webhookEndpoint.update({
      where: { accountId_id: { accountId, id } },
      data: { isEnabled: false, updatedAt: this.clock.now() },
    });
  }

  /** An endpoint that keeps us waiting is left in peace a while, so that it does not take others' places. */
  private async rest({ accountId, id }: Endpoint): Promise<void> {
    await this.database.prisma.webhookEndpoint.update({
      where: { accountId_id: { accountId, id } },
      data: { restingUntil: new Date(this.clock.now().getTime() + restMs) },
    });
  }

  /** Resolves a name and refuses addresses inside our own network, also when a name changes its mind. */
  private guardedLookup(): LookupFunction {
    return (hostname, options, callback) => {
      resolve(hostname, { ...options, all: true }).then(
        (found) => {
          const allowed = found.filter(({ address }) =>
            isAddressAllowed(address, this.isLoopbackAllowed),
          );
          const [first] = allowed;
          if (!first) {
            const error = Object.assign(new Error('address refused'), { code: 'EADDRREFUSED' });
            callback(error, '', 0);
          } else if (options.all) callback(null, allowed);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      );
    };
  }
}

/** The body that is signed and sent; the same bytes at every attempt. */
function envelope({ type, data, eventCreatedAt }: ClaimedDelivery): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${eventCreatedAt.toISOString()}","data":${data}}`;
}
