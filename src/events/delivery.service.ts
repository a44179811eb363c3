// Delivers events to endpoints at least once, and sends test events. A slow endpoint occupies only
// places of its own host and account.
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/postgres/database.service.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
import { AppError } from '../platform/errors.js';
import { apiVersion } from '../platform/http/openapi.js';
import { tooMany } from '../platform/http/retry-after.js';
import { newId } from '../platform/ids.js';
import { waitOutsideSlot } from '../platform/limits/request-slots.service.js';
import { continueTrace } from '../platform/trace.js';
import type { JobPayload } from '../platform/queue/queues.js';
import { openLimits, testInterval } from '../platform/limits/limits.js';
import { OpenCounts } from '../platform/limits/memory-limits.js';
import { delayAfterAttemptMs, deliveryLimits } from './delivery-schedule.js';
import { EndpointClient } from './endpoint-client.service.js';
import { EventCounterparties } from './event-counterparties.service.js';
import { recordAttempt } from './event-metrics.service.js';
import { testEventType } from './event.js';
import {
  claimDeliveries,
  claimTest,
  disableEndpoint,
  pauseEndpoint,
  recordDeliveryResults,
  type ClaimedEventDelivery,
  type DeliveryResult,
} from './events.queries.js';

const { leaseMs, batchSize, maxRunMs } = deliveryLimits;
/** A batch without any response that took longer than this pauses the endpoint. */
const slowBatchMs = 5_000;
const pauseMs = 30_000;
/** An endpoint that responds with this status wants no more events. */
const unsubscribeStatus = 410;

export interface TestResult {
  eventId: string;
  status: number | null;
  error: string | null;
  durationMs: number;
}

@Injectable()
export class DeliveryService {
  private readonly hosts = new OpenCounts<string>(openLimits.deliveries);
  private readonly tests = new OpenCounts<number>(openLimits.endpointTests);

  constructor(
    private readonly database: Database,
    private readonly client: EndpointClient,
    private readonly counterparties: EventCounterparties,
  ) {}

  /**
   * Sends due deliveries to one endpoint until none is left or the run's time is over, so that a
   * slow endpoint with a long backlog does not occupy a worker.
   */
  async deliverDue({ accountId, endpointId }: JobPayload<'deliverEvents'>): Promise<void> {
    const runEndsAt = performance.now() + maxRunMs;
    while (performance.now() < runEndsAt && !this.client.isStopping) {
      // Read for each batch: the endpoint may have been changed or removed since the last one.
      const where = { accountId, id: endpointId, isEnabled: true, deletedAt: null };
      const endpoint = await this.database.prisma.webhookEndpoint.findFirst({ where });
      if (!endpoint || !(await this.deliverBatch(endpoint))) return;
    }
  }

  /**
   * Sends an event of the type `endpoint.test` at once, to a disabled endpoint too. It is stored
   * nowhere. Throws `not_found`, and `rate_limited` for another test of the endpoint within ten
   * seconds and while too many tests of the account or requests to its host are under way.
   */
  async sendTest(accountId: number, endpointId: string): Promise<TestResult> {
    const endpoint = await this.database.prisma.webhookEndpoint.findFirst({
      where: { accountId, id: endpointId, deletedAt: null },
    });
    if (!endpoint) throw new AppError('not_found');
    const end = this.tests.begin(accountId);
    try {
      return await this.claimAndSendTest(endpoint);
    } finally {
      end();
    }
  }

  private async claimAndSendTest(endpoint: WebhookEndpoint): Promise<TestResult> {
    const { prisma } = this.database;
    const host = hostOf(endpoint);
    const sentAt = await claimTest(prisma, endpoint, testInterval.ms);
    if (sentAt === null || this.hosts.take(host, 1) === 0)
      throw tooMany(
        'An endpoint gets at most one test event every ten seconds.',
        testInterval.seconds,
      );
    const startedAt = performance.now();
    try {
      const message = { id: newId(), sentAt, body: testBody(endpoint.id, sentAt) };
      // An endpoint that does not respond must not take the slots of payments.
      return await waitOutsideSlot(async () => {
        const { status, error } = await this.client.post(endpoint, message);
        const durationMs = Math.round(performance.now() - startedAt);
        return { eventId: message.id, status, error, durationMs };
      });
    } finally {
      this.hosts.free(host, 1);
    }
  }

  /**
   * Whether more deliveries may be due. While its host is occupied, the endpoint's deliveries stay
   * due.
   */
  private async deliverBatch(endpoint: WebhookEndpoint): Promise<boolean> {
    const host = hostOf(endpoint);
    const places = this.hosts.take(host, batchSize);
    if (places === 0) return false;
    try {
      const { accountId, id: endpointId } = endpoint;
      const claimed = await claimDeliveries(
        this.database.sql,
        { accountId, endpointId },
        { limit: places, leaseMs },
      );
      if (claimed.length === 0) return false;
      const { includesPersonalData } = endpoint;
      const shown = await this.counterparties.addTo(accountId, claimed, includesPersonalData);
      if (!(await this.attemptAll(endpoint, shown))) return false;
      return claimed.length === places;
    } finally {
      this.hosts.free(host, places);
    }
  }

  private async attemptAll(
    endpoint: WebhookEndpoint,
    claimed: ClaimedEventDelivery[],
  ): Promise<boolean> {
    const { prisma, sql } = this.database;
    const startedAt = performance.now();
    let results = await Promise.all(claimed.map((delivery) => this.attempt(endpoint, delivery)));
    const hasTakenLong = performance.now() - startedAt > slowBatchMs;
    // A shutdown aborts attempts. Aborted attempts do not count as failed: their leases expire,
    // and the deliveries are attempted again.
    if (this.client.isStopping) results = results.filter(({ status }) => status !== null);
    await recordDeliveryResults(sql, endpoint.accountId, results);
    if (results.some(({ status }) => status === unsubscribeStatus)) {
      await disableEndpoint(prisma, endpoint);
      return false;
    }
    const hasNoResponse = results.length > 0 && results.every(({ status }) => status === null);
    // An endpoint that does not respond must not occupy places of others.
    if (hasNoResponse && hasTakenLong) await pauseEndpoint(prisma, endpoint, pauseMs);
    return !(hasNoResponse && hasTakenLong);
  }

  private async attempt(
    endpoint: WebhookEndpoint,
    delivery: ClaimedEventDelivery,
  ): Promise<DeliveryResult> {
    const { id, attempt, claimedAt: sentAt, traceparent } = delivery;
    const message = { id: delivery.eventId, sentAt, body: eventBody(delivery) };
    const startedAtMs = performance.now();
    const { status, error, retryAfterSeconds } = await continueTrace(traceparent, () =>
      this.client.post(endpoint, message),
    );
    const times = {
      durationMs: performance.now() - startedAtMs,
      waitedMs: sentAt.getTime() - delivery.eventCreatedAt.getTime(),
    };
    if (error === null) {
      recordAttempt({ ...times, result: 'delivered' });
      return { id, attempt, status, error, state: 'delivered', retryInMs: null };
    }
    const retryInMs = delayAfterAttemptMs(attempt, retryAfterSeconds, Math.random());
    const state = retryInMs === null ? 'dead' : 'pending';
    recordAttempt({ ...times, result: state === 'dead' ? 'dead' : 'retried' });
    return { id, attempt, status, error, state, retryInMs };
  }
}

function hostOf({ url }: Pick<WebhookEndpoint, 'url'>): string {
  return new URL(url).hostname;
}

/**
 * The body that is signed and sent: the same bytes at every attempt, unless between two of them the
 * line was erased, a source named its counterparty first, or `includesPersonalData` was changed.
 */
function eventBody({ type, data, apiVersion, sequence, ...event }: ClaimedEventDelivery): string {
  const head = {
    ...{ type, apiVersion },
    timestamp: event.eventCreatedAt.toISOString(),
    resource: { kind: event.resourceKind, id: event.resourceId },
    sequence,
  };
  // The data is stored as exact JSON.
  return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}

function testBody(endpointId: string, sentAt: Date): string {
  return JSON.stringify({
    ...{ type: testEventType, apiVersion },
    timestamp: sentAt.toISOString(),
    resource: { kind: 'webhook_endpoint', id: endpointId },
    sequence: 0,
    data: { endpointId },
  });
}
