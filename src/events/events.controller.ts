import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, FromCaller, type CallerInput } from '../access/accounts/api-key.guard.js';
import { RequiresScope } from '../access/accounts/scope.decorator.js';
import { seesPersonalData } from '../access/counterparties/counterparty.schema.js';
import { Database } from '../platform/postgres/database.service.js';
import type { Event } from '../generated/service/client.js';
import { IdempotencyService } from '../access/idempotency/idempotency.service.js';
import { Handles } from '../platform/http/contract-route.js';
import { Responds } from '../platform/http/responses.decorator.js';
import { parseJson } from '../platform/json/exact-json.js';
import { readPage, readUuid, toList } from '../platform/http/listing.js';
import { Deliveries } from './delivery-lists.service.js';
import { EventCounterparties } from './event-counterparties.service.js';
import { EventRetention } from './event-retention.service.js';
import {
  isDeliveryPlace,
  listDeliveries,
  listEvents,
  replayDelivery,
  placeOf,
} from './events.schema.js';
import { EventsService } from './events.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class EventsController {
  constructor(
    private readonly database: Database,
    private readonly service: EventsService,
    private readonly idempotency: IdempotencyService,
    private readonly retention: EventRetention,
    private readonly counterparties: EventCounterparties,
    private readonly deliveries: Deliveries,
  ) {}

  @Responds({
    status: 410,
    description: 'Events after the cursor were deleted by age.',
    headers: { Location: 'The first page after what was deleted.' },
  })
  @Handles(listEvents)
  async events(@FromCaller() { accountId, query, scopes }: CallerInput<typeof listEvents>) {
    const page = readPage(query, isPosition);
    const from = page.after ?? query.after;
    const position = from === undefined ? undefined : BigInt(from);
    const isAscending = query.after !== undefined;
    const rows = await this.database.prisma.event.findMany({
      where: {
        ...{ accountId, type: query.type },
        position: isAscending ? { gt: position } : { lt: position },
      },
      orderBy: { position: isAscending ? 'asc' : 'desc' },
      take: page.limit + 1,
    });
    if (isAscending && position !== undefined)
      await this.retention.assertNothingDeletedAfter(accountId, position);
    const shown = await this.counterparties.addTo(accountId, rows, seesPersonalData(scopes));
    return toList(shown, page, (event) => event.position.toString(), describeEvent);
  }

  @Handles(listDeliveries)
  async deliveriesPage(@FromCaller() { accountId, query }: CallerInput<typeof listDeliveries>) {
    const page = readPage(query, isDeliveryPlace);
    const found = await this.deliveries.listPage(accountId, query, page);
    return toList(found, page, placeOf);
  }

  @RequiresScope('webhooks')
  @Handles(replayDelivery)
  replay(@FromCaller() request: CallerInput<typeof replayDelivery>) {
    const { accountId, params, body } = request;
    return this.idempotency.runOnce({ accountId, route: replayDelivery, request }, async () =>
      this.service.replay(accountId, readUuid(params.id), body?.endpointId),
    );
  }
}

const isPosition = (key: string): boolean => /^\d{1,18}$/.test(key);

function describeEvent({ resourceKind: kind, resourceId: id, data, ...event }: Event) {
  return { ...event, resource: { kind, id }, data: parseJson(data) };
}
