import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../access/accounts/api-key.guard.js';
import { missingScope, RequiresScope } from '../access/accounts/scope.decorator.js';
import { seesPersonalData } from '../access/counterparties/counterparty.schema.js';
import type { WebhookEndpoint } from '../generated/service/client.js';
import { IdempotencyService } from '../access/idempotency/idempotency.service.js';
import { Handles } from '../platform/http/contract-route.js';
import { isUuid, readPage, readUuid, toList } from '../platform/http/listing.js';
import { Deliveries } from './delivery-lists.service.js';
import { DeliveryService } from './delivery.service.js';
import { EndpointsService, type EndpointWithSecret } from './endpoints.service.js';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  replayDeliveries,
  rotateEndpointSecret,
  testEndpoint,
  updateEndpoint,
} from './events.schema.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly delivery: DeliveryService,
    private readonly idempotency: IdempotencyService,
    private readonly deliveries: Deliveries,
  ) {}

  // An endpoint receives events without a key, so that not everyone who may read may add one.
  @RequiresScope('webhooks')
  @Handles(createEndpoint)
  create(@FromCaller() request: CallerInput<typeof createEndpoint>) {
    const { accountId, body, scopes } = request;
    if (body.includesPersonalData && !seesPersonalData(scopes)) throw missingScope('personal-data');
    const fields = { ...body, description: body.description ?? null };
    return this.idempotency.runOnce({ accountId, route: createEndpoint, request }, async () =>
      describeWithSecret(await this.endpoints.create(accountId, fields)),
    );
  }

  // A URL may contain a token of the receiver.
  @RequiresScope('webhooks')
  @Handles(listEndpoints)
  async list(@FromCaller() { accountId, query }: CallerInput<typeof listEndpoints>) {
    const page = readPage(query, isUuid);
    const rows = await this.endpoints.listPage(accountId, page);
    return toList(rows, page, ({ id }) => id, describeEndpoint);
  }

  @RequiresScope('webhooks')
  @Handles(getEndpoint)
  async get(@FromCaller() { accountId, params }: CallerInput<typeof getEndpoint>) {
    return describeEndpoint(await this.endpoints.get(accountId, readUuid(params.id)));
  }

  @RequiresScope('webhooks')
  @Handles(updateEndpoint)
  update(@FromCaller() request: CallerInput<typeof updateEndpoint>) {
    const { accountId, params, body, scopes } = request;
    const maySend = seesPersonalData(scopes);
    if (body.includesPersonalData === true && !maySend) throw missingScope('personal-data');
    const changes = Object.fromEntries(
      Object.entries(body).filter(([, value]) => value !== undefined),
    );
    return this.idempotency.runOnce({ accountId, route: updateEndpoint, request }, async () =>
      describeEndpoint(
        await this.endpoints.update(accountId, readUuid(params.id), changes, maySend),
      ),
    );
  }

  @RequiresScope('webhooks')
  @Handles(deleteEndpoint)
  remove(@FromCaller() request: CallerInput<typeof deleteEndpoint>) {
    const { accountId, params } = request;
    return this.idempotency.runOnce({ accountId, route: deleteEndpoint, request }, async () => {
      const deadDeliveries = await this.endpoints.remove(accountId, readUuid(params.id));
      return { ...params, deadDeliveries };
    });
  }

  @RequiresScope('webhooks')
  @Handles(rotateEndpointSecret)
  rotateSecret(@FromCaller() request: CallerInput<typeof rotateEndpointSecret>) {
    const { accountId, params, body } = request;
    const keyed = { accountId, route: rotateEndpointSecret, request };
    return this.idempotency.runOnce(keyed, async () =>
      describeWithSecret(
        await this.endpoints.rotateSecret(accountId, readUuid(params.id), body?.overlapSeconds),
      ),
    );
  }

  @RequiresScope('webhooks')
  @Handles(testEndpoint)
  test(@FromCaller() request: CallerInput<typeof testEndpoint>) {
    const { accountId, params } = request;
    return this.idempotency.runOnce({ accountId, route: testEndpoint, request }, async () =>
      this.delivery.sendTest(accountId, readUuid(params.id)),
    );
  }

  @RequiresScope('webhooks')
  @Handles(replayDeliveries)
  replay(@FromCaller() request: CallerInput<typeof replayDeliveries>) {
    const { accountId, params, body } = request;
    const { type: eventType, after = null } = body ?? {};
    return this.idempotency.runOnce({ accountId, route: replayDeliveries, request }, async () => {
      const endpointId = readUuid(params.id);
      const { count: replayed, ...rest } = await this.deliveries.replay(accountId, {
        ...{ endpointId, eventType, after },
      });
      return { replayed, ...rest };
    });
  }
}

function describeEndpoint({ secret: _, previousSecret: __, ...endpoint }: WebhookEndpoint) {
  return endpoint;
}

function describeWithSecret({ endpoint, secret }: EndpointWithSecret) {
  return { ...describeEndpoint(endpoint), secret };
}
