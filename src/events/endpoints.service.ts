// Webhook endpoints of business systems. Each secret is generated here, returned once, and stored
// encrypted.
import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Settings } from '../platform/settings/config.js';
import { Database } from '../platform/postgres/database.service.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
import { missingScope } from '../access/accounts/scope.decorator.js';
import { AppError, conflict, invalidField } from '../platform/errors.js';
import { idsAfter, pageById, type Page } from '../platform/http/listing.js';
import { SecretBox } from '../platform/secret-box.js';
import { Every } from '../platform/queue/timers.js';
import { newId } from '../platform/ids.js';
import { assertBelowQuota, type Quota } from '../platform/limits/quotas.queries.js';
import { EndpointClient } from './endpoint-client.service.js';
import { ownerOfEndpointSecret } from './endpoint-secrets.queries.js';
import { endUndeliverable, markEndpointRemoved, replaceSecret } from './events.queries.js';
import { EventsService } from './events.service.js';

const secretBytes = 32;
const endedPerQuery = 1_000;
const hourMs = 3_600_000;
const defaultOverlapSeconds = 86_400;

type EndpointFields = Pick<
  WebhookEndpoint,
  'url' | 'eventTypes' | 'description' | 'isEnabled' | 'includesPersonalData'
>;

/** The only place that holds the secret in plain text. */
export interface EndpointWithSecret {
  endpoint: WebhookEndpoint;
  secret: string;
}

@Injectable()
export class EndpointsService {
  constructor(
    private readonly database: Database,
    private readonly secretBox: SecretBox,
    private readonly events: EventsService,
    private readonly settings: Settings,
    private readonly client: EndpointClient,
  ) {}

  /**
   * Throws `validation_failed` for an invalid URL, and `conflict` where the account has as many
   * endpoints as the settings allow.
   */
  async create(accountId: number, fields: EndpointFields): Promise<EndpointWithSecret> {
    const url = this.readUrl(fields.url);
    const { endpointsPerAccount } = this.settings;
    const secret = newSecret();
    const key = { accountId, id: newId() };
    const encrypted = this.secretBox.encrypt(secret, ownerOfEndpointSecret(key));
    const endpoint = await this.database.transaction(async (tx) => {
      const quota: Quota = {
        ...{
          accountId,
          limit: endpointsPerAccount,
          code: 'endpoint_limit',
          name: 'webhook endpoints',
        },
      };
      await assertBelowQuota(tx, quota, () =>
        tx.webhookEndpoint.count({ where: { accountId, deletedAt: null } }),
      );
      return tx.webhookEndpoint.create({
        data: { ...key, ...fields, url, secret: encrypted },
      });
    });
    return { endpoint, secret };
  }

  /**
   * Replaces the secret. During the overlap, requests are signed with the new and the old secret.
   * Throws `not_found`, and `conflict` while an earlier overlap lasts, unless the new one is 0.
   */
  async rotateSecret(
    accountId: number,
    id: string,
    overlapSeconds = defaultOverlapSeconds,
  ): Promise<EndpointWithSecret> {
    await this.get(accountId, id);
    const secret = newSecret();
    const key = { accountId, id };
    const encrypted = this.secretBox.encrypt(secret, ownerOfEndpointSecret(key));
    const replacement = { secret: encrypted, overlapSeconds };
    if (!(await replaceSecret(this.database.prisma, key, replacement)))
      throw conflict(
        'secret_overlap',
        'The secret before this one is still valid: rotate after its overlap, or with overlapSeconds 0.',
      );
    return { endpoint: await this.get(accountId, id), secret };
  }

  async listPage(accountId: number, page: Page): Promise<WebhookEndpoint[]> {
    return this.database.prisma.webhookEndpoint.findMany({
      where: { accountId, deletedAt: null, id: idsAfter(page) },
      ...pageById(page),
    });
  }

  /** Throws `not_found`, also for an endpoint of another account and for a removed endpoint. */
  async get(accountId: number, id: string): Promise<WebhookEndpoint> {
    const endpoint = await this.database.prisma.webhookEndpoint.findFirst({
      where: { accountId, id, deletedAt: null },
    });
    if (!endpoint) throw new AppError('not_found');
    return endpoint;
  }

  /**
   * Throws `forbidden` for an endpoint that includes personal data, unless the caller may send it
   * there or ends it: another URL would get the data too.
   */
  async update(
    accountId: number,
    id: string,
    changes: Partial<EndpointFields>,
    maySendPersonalData = false,
  ): Promise<WebhookEndpoint> {
    await this.get(accountId, id);
    const isFree = maySendPersonalData || changes.includesPersonalData === false;
    const url = changes.url === undefined ? {} : { url: this.readUrl(changes.url) };
    const [endpoint] = await this.database.prisma.webhookEndpoint.updateManyAndReturn({
      where: { accountId, id, ...(isFree ? {} : { includesPersonalData: false }) },
      data: { ...changes, ...url, updatedAt: await this.database.now() },
    });
    if (!endpoint) throw missingScope('personal-data');
    // Deliveries that became due while the endpoint was disabled are sent now.
    if (endpoint.isEnabled) await this.events.enqueueDeliveries(accountId);
    return endpoint;
  }

  /**
   * Removes an endpoint. Its pending deliveries become dead with the error `endpoint_removed`;
   * returns how many.
   */
  async remove(accountId: number, id: string): Promise<number> {
    return this.database.transaction(async (tx) => {
      if (!(await markEndpointRemoved(tx, { accountId, id }))) throw new AppError('not_found');
      const { count } = await tx.delivery.updateMany({
        where: { accountId, endpointId: id, state: 'pending' },
        data: { state: 'dead', nextAttemptAt: null, lastError: 'endpoint_removed' },
      });
      return count;
    });
  }

  /** An endpoint that stays disabled must not collect pending deliveries for ever. */
  @Every('undeliverable', 60)
  async endUndeliverable(): Promise<void> {
    const afterMs = this.settings.disabledEndpointHours * hourMs;
    const options = { afterMs, limit: endedPerQuery };
    while ((await endUndeliverable(this.database.prisma, options)) === endedPerQuery);
  }

  /** The normalized URL. */
  private readUrl(text: string): string {
    const check = this.client.checkUrl(text);
    if (!check.ok) throw invalidField('$.url', check.message);
    return check.url;
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}
