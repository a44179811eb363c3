// Delivers the bank's webhooks to the registrations of clients: the bytes that the bank sent, in
// the authorization scheme that the client registered. At least once, in no order. A slow receiver
// occupies only places of its own host.
import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import {
  authorizationHeaders,
  type AuthorizationScheme,
} from '../../bank-contract/webhook-authorization.js';
import { Database } from '../../platform/postgres/database.service.js';
import { delayAfterAttemptMs, deliveryLimits } from '../../events/delivery-schedule.js';
import { EndpointClient } from '../../events/endpoint-client.service.js';
import { JobQueue } from '../../platform/queue/job-queue.js';
import { openLimits } from '../../platform/limits/limits.js';
import { OpenCounts } from '../../platform/limits/memory-limits.js';
import { SecretBox } from '../../platform/secret-box.js';
import { Every } from '../../platform/queue/timers.js';
import { jobs, type JobPayload } from '../../platform/queue/queues.js';
import { ownerOfRelaySecret } from './relay-secrets.queries.js';
import * as queries from './relays.queries.js';

const { leaseMs, batchSize, maxRunMs } = deliveryLimits;

@Injectable()
export class RelayDeliveries {
  private readonly hosts = new OpenCounts<string>(openLimits.relays);

  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly client: EndpointClient,
    @InjectQueue(jobs.relayWebhooks.name)
    private readonly relayWebhooksQueue: JobQueue<'relayWebhooks'>,
  ) {}

  @Every('relays', 2)
  async enqueueDue(): Promise<void> {
    for (const relay of await queries.listDueRelays(this.database.prisma))
      await this.relayWebhooksQueue.enqueue(relay);
  }

  /** Sends due deliveries of one registration until none is left or the run's time is over. */
  async deliverDue(relay: JobPayload<'relayWebhooks'>): Promise<void> {
    const runEndsAt = performance.now() + maxRunMs;
    while (performance.now() < runEndsAt && !this.client.isStopping)
      if (!(await this.deliverBatch(relay))) return;
  }

  /**
   * Whether more deliveries may be due. While its host is occupied, the registration's deliveries
   * stay due: an attempt counts only if it is made.
   */
  private async deliverBatch(relay: queries.DueRelay): Promise<boolean> {
    const { prisma } = this.database;
    const { accountId, registrationId: id } = relay;
    const registration = await prisma.relayRegistration.findUnique({
      where: { accountId_id: { accountId, id } },
    });
    if (!registration) return false;
    const { url } = registration;
    const host = URL.canParse(url) ? new URL(url).hostname : '';
    const places = this.hosts.take(host, batchSize);
    if (places === 0) return false;
    try {
      const claimed = await queries.claimRelays(prisma, relay, { limit: places, leaseMs });
      await Promise.all(claimed.map((delivery) => this.attempt(relay, delivery)));
      return claimed.length === places;
    } finally {
      this.hosts.free(host, places);
    }
  }

  private async attempt(relay: queries.DueRelay, delivery: queries.ClaimedRelay): Promise<void> {
    const { id, attempt } = delivery;
    const { status, error, retryAfterSeconds } = await this.send(relay, delivery);
    // A shutdown aborts attempts: they are attempted again after their lease.
    if (this.client.isStopping && status === null) return;
    const retryInMs =
      error === null || delivery.body === null
        ? null
        : delayAfterAttemptMs(attempt, retryAfterSeconds, Math.random());
    const state = error === null ? 'delivered' : retryInMs === null ? 'dead' : 'pending';
    const result = { id, attempt, state, status, error, retryInMs } as const;
    await queries.recordRelayResult(this.database.prisma, relay.accountId, result);
  }

  private async send(
    { accountId, registrationId }: queries.DueRelay,
    { url, authorizationScheme, authorization, body, claimedAt: sentAt }: queries.ClaimedRelay,
  ) {
    const failed = { status: null, retryAfterSeconds: null };
    if (body === null) return { ...failed, error: 'body_deleted' };
    const secret =
      authorization === null
        ? null
        : this.secretBox.decrypt(
            authorization,
            ownerOfRelaySecret({ accountId, id: registrationId }),
          );
    const headers = authorizationHeaders(authorizationScheme as AuthorizationScheme, secret);
    if (headers === null) return { ...failed, error: 'authorization_invalid' };
    const request = { headers, body: Buffer.from(body), sentAt };
    return this.client.send({ id: registrationId, url }, request);
  }
}
