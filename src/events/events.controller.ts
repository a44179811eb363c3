import { Controller, UseGuards } from '@nestjs/common';
import { ApiKeyGuard, CalledBy } from '../accounts/api-key.guard.js';
import type { Caller } from '../accounts/api-keys.service.js';
import { RequiresScope } from '../accounts/scope.decorator.js';
import type { RouteInput } from '../contract/route.js';
import { Database } from '../database.service.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { Handles, Input } from '../platform/contract-route.js';
import { AppError } from '../platform/errors.js';
import { parseJson } from '../platform/exact-json.js';
import { isUuid, readPage, toList } from '../platform/listing.js';
import { listDeliveries, listEvents, replayDelivery } from './events.schema.js';
import { EventsService } from './events.service.js';

@Controller()
@UseGuards(ApiKeyGuard)
export class EventsController {
  constructor(
    private readonly database: Database,
    private readonly service: EventsService,
    private readonly idempotency: IdempotencyService,
  ) {}

  @Handles(listEvents)
  async events(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listEvents>,
  ) {
    const page = readPage(query, isUuid);
    const rows = await this.database.prisma.event.findMany({
      where: { accountId, type: query.type, id: { lt: page.after ?? undefined } },
      orderBy: { id: 'desc' },
      take: page.limit + 1,
    });
    return toList(
      rows,
      page,
      ({ id }) => id,
      (event) => ({ ...event, data: parseJson(event.data) }),
    );
  }

  @Handles(listDeliveries)
  async deliveries(
    @CalledBy() { accountId }: Caller,
    @Input() { query }: RouteInput<typeof listDeliveries>,
  ) {
    const page = readPage(
      query,
      (key) => key.split(' ').length === 2 && key.split(' ').every(isUuid),
    );
    const [eventId, endpointId] = page.after?.split(' ') ?? [];
    const rows = await this.database.prisma.delivery.findMany({
      where: {
        ...{ accountId, state: query.state, endpointId: query.endpointId, eventId: query.eventId },
        ...(eventId && endpointId
          ? { OR: [{ eventId: { lt: eventId } }, { eventId, endpointId: { lt: endpointId } }] }
          : {}),
      },
      // An event's id increases with time; a delivery's own id is random.
      orderBy: [{ eventId: 'desc' }, { endpointId: 'desc' }],
      take: page.limit + 1,
    });
    return toList(rows, page, (row) => `${row.eventId} ${row.endpointId}`);
  }

  @RequiresScope('read')
  @Handles(replayDelivery)
  replay(@CalledBy() { accountId }: Caller, @Input() request: RouteInput<typeof replayDelivery>) {
    const { id } = request.params;
    return this.idempotency.runOnce({ accountId, route: replayDelivery, request }, async () => {
      if (!isUuid(id)) throw new AppError('not_found');
      return this.service.replay(accountId, id);
    });
  }
}
