import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { Needs } from '../accounts/needs.decorator.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
import { IdempotencyRecords } from '../idempotency/idempotency-records.service.js';
import { Handles, Input } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { EndpointsService } from './endpoints.service.js';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  updateEndpoint,
} from './events.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly database: Database,
    private readonly idempotencyRecords: IdempotencyRecords,
  ) {}

  // What an endpoint is told is what reading tells: it takes no other scope.
  @Needs('read')
  @Handles(createEndpoint)
  create(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof createEndpoint>) {
    const { url, eventTypes, description = null, isEnabled } = request.body;
    const fields = { url, eventTypes, description, isEnabled };
    return this.idempotencyRecords.once({ accountId, route: createEndpoint, request }, async () => {
      const { endpoint, secret } = await this.endpoints.create(accountId, fields);
      return { ...describe(endpoint), secret };
    });
  }

  @Handles(listEndpoints)
  async list(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listEndpoints>,
  ) {
    const page = readPage(query, isUuid);
    const rows = await this.database.prisma.webhookEndpoint.findMany({
      where: { accountId, deletedAt: null, ...(page.after ? { id: { lt: page.after } } : {}) },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describe);
  }

  @Handles(getEndpoint)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof getEndpoint>,
  ) {
    return describe(await this.endpoints.get(accountId, endpointId(params.id)));
  }

  @Needs('read')
  @Handles(updateEndpoint)
  update(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof updateEndpoint>) {
    const { params, body } = request;
    const changes = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    );
    return this.idempotencyRecords.once({ accountId, route: updateEndpoint, request }, async () =>
      describe(await this.endpoints.update(accountId, endpointId(params.id), changes)),
    );
  }

  @Needs('read')
  @Handles(deleteEndpoint)
  remove(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof deleteEndpoint>) {
    const { id } = request.params;
    return this.idempotencyRecords.once({ accountId, route: deleteEndpoint, request }, async () => {
      await this.endpoints.remove(accountId, endpointId(id));
      return { id };
    });
  }
}

/** What is no uuid names nothing. */
function endpointId(text: string): string {
  if (!isUuid(text)) throw new AppError('not_found');
  return text;
}

function describe(endpoint: WebhookEndpoint) {
  const { id, url, eventTypes, description, isEnabled } = endpoint;
  return {
    id,
    url,
    eventTypes,
    description,
    isEnabled,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  };
}
