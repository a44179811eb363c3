import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
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
  ) {}

  @Handles(createEndpoint)
  async create(
    @CalledBy() { accountId }: Caller,
    @Input() { body }: RouteInput<typeof createEndpoint>,
  ) {
    const { url, eventTypes, description = null, isEnabled } = body;
    const created = await this.endpoints.create(accountId, {
      url,
      eventTypes,
      description,
      isEnabled,
    });
    return { ...describe(created.endpoint), secret: created.secret };
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

  @Handles(updateEndpoint)
  async update(
    @CalledBy() { accountId }: Caller,
    @Input() { params, body }: RouteInput<typeof updateEndpoint>,
  ) {
    const changes = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    );
    return describe(await this.endpoints.update(accountId, endpointId(params.id), changes));
  }

  @Handles(deleteEndpoint)
  async remove(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof deleteEndpoint>,
  ) {
    await this.endpoints.remove(accountId, endpointId(params.id));
    return { id: params.id };
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
