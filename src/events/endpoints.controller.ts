import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
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
    private readonly idempotency: IdempotencyService,
  ) {}

  // Events contain only what the read scope can read, so that endpoints need no other scope.
  @RequiresScope('read')
  @Handles(createEndpoint)
  create(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof createEndpoint>) {
    const { url, eventTypes, description = null, isEnabled } = request.body;
    const fields = { url, eventTypes, description, isEnabled };
    return this.idempotency.runOnce({ accountId, route: createEndpoint, request }, async () => {
      const { endpoint, secret } = await this.endpoints.create(accountId, fields);
      return { ...describeEndpoint(endpoint), secret };
    });
  }

  @Handles(listEndpoints)
  async list(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listEndpoints>,
  ) {
    const page = readPage(query, isUuid);
    const rows = await this.database.prisma.webhookEndpoint.findMany({
      where: { accountId, deletedAt: null, id: { lt: page.after ?? undefined } },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(rows, page, ({ id }) => id, describeEndpoint);
  }

  @Handles(getEndpoint)
  async get(
    @CalledBy() { accountId }: Caller,
    @Input() { params }: RouteInput<typeof getEndpoint>,
  ) {
    return describeEndpoint(await this.endpoints.get(accountId, parseEndpointId(params.id)));
  }

  @RequiresScope('read')
  @Handles(updateEndpoint)
  update(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof updateEndpoint>) {
    const { params, body } = request;
    const changes = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    );
    return this.idempotency.runOnce({ accountId, route: updateEndpoint, request }, async () =>
      describeEndpoint(await this.endpoints.update(accountId, parseEndpointId(params.id), changes)),
    );
  }

  @RequiresScope('read')
  @Handles(deleteEndpoint)
  remove(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof deleteEndpoint>) {
    const { id } = request.params;
    return this.idempotency.runOnce({ accountId, route: deleteEndpoint, request }, async () => {
      await this.endpoints.remove(accountId, parseEndpointId(id));
      return { id };
    });
  }
}

/** Throws `not_found` for text that is not a UUID. */
function parseEndpointId(text: string): string {
  if (!isUuid(text)) throw new AppError('not_found');
  return text;
}

function describeEndpoint({ secret: _, ...endpoint }: WebhookEndpoint) {
  return endpoint;
}
