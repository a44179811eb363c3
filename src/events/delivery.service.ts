// Delivers events at least once, signed per Standard Webhooks. The resolved address is checked when
// connecting. No redirect is followed. Only the status and the headers of the response are read.
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
import type { WebhookEndpoint } from '../generated/service/client.js';
import { OnJob } from '../platform/job-methods.js';
import { Log } from '../platform/log.js';
import { readRetryAfter } from '../platform/rate-limits.js';
import { SecretBox } from '../platform/secret-box.js';
import type { JobPayload } from '../queues.js';
import { isAddressAllowed, checkEndpointUrl } from './address-guard.js';
import { delayAfterAttemptMs } from './delivery-schedule.js';
import { ownerOfEndpointSecret } from './endpoint-secrets.queries.js';
import {
  claimDeliveries,
  disableEndpoint,
  pauseEndpoint,
  recordDeliveryResult,
  type ClaimedEventDelivery,
  type DeliveryResult,
} from './events.queries.js';

const timeoutMs = 15_000;
/** Longer than an attempt can last. */
const leaseMs = timeoutMs + 5_000;
const batchSize = 10;
const maxRunMs = 20_000;
/** A batch without any response that took longer than this pauses the endpoint. */
const slowBatchMs = 5_000;
const pauseMs = 30_000;
/** An endpoint that responds with this status wants no more events. */
const unsubscribeStatus = 410;

type DeliveryTarget = Pick<WebhookEndpoint, 'accountId' | 'id' | 'url' | 'secret'>;

@Injectable()
export class DeliveryService implements OnModuleDestroy, OnApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly client: AxiosInstance;
  private readonly agents: { httpAgent: HttpAgent; httpsAgent: HttpsAgent };
  private readonly isLoopbackAllowed: boolean;

  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly log: Log,
    bank: BankService,
  ) {
    this.isLoopbackAllowed = bank.profile.allowsLoopback;
    const lookup = this.guardedLookup();
    this.agents = {
      httpAgent: new HttpAgent({ keepAlive: true, lookup }),
      httpsAgent: new HttpsAgent({ keepAlive: true, lookup }),
    };
    this.client = axios.create({
      ...this.agents,
      maxRedirects: 0,
      transformRequest: [(body: unknown) => body],
      // Only status and headers are used: the body is neither read nor decompressed.
      responseType: 'stream',
      decompress: false,
      validateStatus: () => true,
      proxy: false,
    });
  }

  /**
   * Sends due deliveries to one endpoint until none is left or the run's time is over, so that a
   * slow endpoint with a long backlog does not occupy a job slot.
   */
  @OnJob('deliverEvents')
  async deliverDue({ accountId, endpointId }: JobPayload<'deliverEvents'>): Promise<void> {
    const endpoint = await this.database.prisma.webhookEndpoint.findFirst({
      where: { accountId, id: endpointId, isEnabled: true, deletedAt: null },
    });
    if (!endpoint) return;
    const runEndsAt = performance.now() + maxRunMs;
    while (performance.now() < runEndsAt && !this.stopping.signal.aborted) {
      const claimed = await claimDeliveries(
        this.database.prisma,
        { accountId, endpointId },
        { limit: batchSize, leaseMs },
      );
      if (claimed.length === 0) return;
      const startedAt = performance.now();
      let results = await Promise.all(claimed.map((delivery) => this.attempt(endpoint, delivery)));
      // A shutdown aborts attempts. Aborted attempts do not count as failed: their leases expire,
      // and the deliveries are attempted again.
      if (this.stopping.signal.aborted) results = results.filter(({ status }) => status !== null);
      for (const result of results)
        await recordDeliveryResult(this.database.prisma, accountId, result);
      if (results.some(({ status }) => status === unsubscribeStatus))
        return disableEndpoint(this.database.prisma, endpoint);
      const hasNoResponse = results.length > 0 && results.every(({ status }) => status === null);
      // An endpoint that does not respond must not occupy job slots of others.
      if (hasNoResponse && performance.now() - startedAt > slowBatchMs)
        return pauseEndpoint(this.database.prisma, endpoint, pauseMs);
    }
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  onApplicationShutdown(): void {
    this.agents.httpAgent.destroy();
    this.agents.httpsAgent.destroy();
  }

  private async attempt(
    endpoint: DeliveryTarget,
    delivery: ClaimedEventDelivery,
  ): Promise<DeliveryResult> {
    const { status, error, retryAfterSeconds } = await this.post(endpoint, delivery);
    const { id, attempt } = delivery;
    if (status !== null && status >= 200 && status < 300)
      return { id, attempt, status, error: null, state: 'delivered', retryInMs: null };
    const retryInMs = delayAfterAttemptMs(attempt, retryAfterSeconds, Math.random());
    const state = retryInMs === null ? 'dead' : 'pending';
    return { id, attempt, status, error, state, retryInMs };
  }

  private secretOf(endpoint: DeliveryTarget): string {
    return this.secretBox.decrypt(endpoint.secret, ownerOfEndpointSecret(endpoint));
  }

  private async post(endpoint: DeliveryTarget, delivery: ClaimedEventDelivery) {
    const body = eventBody(delivery);
    const { claimedAt } = delivery;
    const noResponse = { status: null, retryAfterSeconds: null };
    const check = checkEndpointUrl(endpoint.url, this.isLoopbackAllowed);
    if (!check.ok) return { ...noResponse, error: 'address_refused' };
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.client.post<Readable>(endpoint.url, body, {
        headers: {
          'content-type': 'application/json',
          'user-agent': 'concilia',
          'webhook-id': delivery.eventId,
          'webhook-timestamp': String(Math.floor(claimedAt.getTime() / 1_000)),
          'webhook-signature': new Webhook(this.secretOf(endpoint)).sign(
            delivery.eventId,
            claimedAt,
            body,
          ),
        },
        signal: AbortSignal.any([timeout, this.stopping.signal]),
      });
      response.data.destroy();
      const retryAfterSeconds = readRetryAfter(response.headers['retry-after'], claimedAt);
      const error = response.status < 300 ? null : `status_${response.status}`;
      return { status: response.status, error, retryAfterSeconds };
    } catch (error) {
      this.log.info({ err: error, endpointId: endpoint.id }, 'event delivery failed');
      if (timeout.aborted) return { ...noResponse, error: 'timeout' };
      const code = axios.isAxiosError(error) ? error.code : undefined;
      return { ...noResponse, error: (code ?? 'no_response').toLowerCase() };
    }
  }

  /**
   * Resolves host names and refuses internal addresses. The check runs at each connection, because
   * the address of a name may change after the endpoint was stored.
   */
  private guardedLookup(): LookupFunction {
    return (hostname, options, callback) => {
      resolve(hostname, { ...options, all: true }).then(
        (resolved) => {
          const allowed = resolved.filter(({ address }) =>
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

/** The body that is signed and sent: the same bytes at every attempt. */
function eventBody({ type, data, sequence, ...event }: ClaimedEventDelivery): string {
  const head = {
    type,
    timestamp: event.eventCreatedAt.toISOString(),
    resource: { kind: event.resourceKind, id: event.resourceId },
    sequence,
  };
  // The data is stored as exact JSON.
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}
