// Deliveries as people and business systems see them, and deliveries that are made once more: one,
// the dead ones of an endpoint, or all events since a time. An event keeps its id, by which its
// receiver recognizes a repeat.
import { Injectable } from '@nestjs/common';
import { Database } from '../platform/postgres/database.service.js';
import { AppError } from '../platform/errors.js';
import type { FoundRows, ListTotal, Page } from '../platform/http/listing.js';
import * as queries from './deliveries.queries.js';
import { EndpointsService } from './endpoints.service.js';
import { EventCounterparties } from './event-counterparties.service.js';
import { maxReplayed } from './events.schema.js';
import { EventsService } from './events.service.js';

/** What is delivered once more to an endpoint: dead deliveries, or the events after a position. */
export interface Replay {
  endpointId: string;
  eventType?: string | undefined;
  /** Null for dead deliveries only. */
  after: bigint | null;
}

@Injectable()
export class Deliveries {
  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointsService,
    private readonly events: EventsService,
    private readonly counterparties: EventCounterparties,
  ) {}

  async total(accountId: number, filters: queries.DeliveryFilters): Promise<ListTotal> {
    return queries.totalDeliveries(this.database.prisma, accountId, filters);
  }

  /** One row more than the page holds. */
  async listPage(
    accountId: number,
    filters: queries.DeliveryFilters,
    { after, limit, order }: Page,
  ): Promise<FoundRows<queries.DeliveryRow>> {
    const [eventId, endpointId] = after?.split(' ') ?? [];
    const place = eventId && endpointId ? { eventId, endpointId } : null;
    return queries.listDeliveryRows(this.database.prisma, accountId, filters, {
      ...{ after: place, limit, order },
    });
  }

  /** A delivery with its event, whose counterparty is masked unless `isVisible`. */
  async get(accountId: number, id: string, isVisible: boolean) {
    const delivery = await this.database.prisma.delivery.findUnique({
      where: { accountId_id: { accountId, id } },
      include: { event: true, webhookEndpoint: { select: { url: true, deletedAt: true } } },
    });
    if (!delivery) throw new AppError('not_found');
    const [event = delivery.event] = await this.counterparties.addTo(
      accountId,
      [delivery.event],
      isVisible,
    );
    return { ...delivery, event };
  }

  /** What became of the newest deliveries, by endpoint. */
  async measureEndpoints(accountId: number): Promise<Map<string, queries.EndpointFigures>> {
    const figures = await queries.measureEndpoints(this.database.prisma, accountId);
    return new Map(figures.map((one) => [one.endpointId, one]));
  }

  async countBacklog(accountId: number, endpointId: string): Promise<queries.Backlog> {
    return queries.countBacklog(this.database.prisma, { accountId, endpointId });
  }

  /** The position after which the events of this time and later stand. */
  async positionBefore(accountId: number, since: Date): Promise<bigint> {
    return queries.findPositionBefore(this.database.prisma, accountId, since);
  }

  /** How many deliveries `replay` would make due. Throws `not_found`. */
  async preview(accountId: number, replay: Replay): Promise<queries.ReplayedEvents> {
    await this.endpoints.get(accountId, replay.endpointId);
    const { prisma } = this.database;
    const target = { accountId, ...replay };
    if (replay.after !== null) return queries.countEventsAfter(prisma, target, replay.after);
    return describeDead(await queries.countDead(prisma, target));
  }

  /** Throws `not_found`, also for an endpoint that was removed. */
  async replay(accountId: number, replay: Replay): Promise<queries.ReplayedEvents> {
    await this.endpoints.get(accountId, replay.endpointId);
    const { prisma } = this.database;
    const target = { accountId, ...replay };
    const replayed =
      replay.after === null
        ? describeDead(await queries.replayDead(prisma, target))
        : await queries.replayEventsAfter(prisma, target, replay.after);
    await this.events.enqueueDeliveries(accountId);
    return replayed;
  }
}

function describeDead(count: number): queries.ReplayedEvents {
  return { count, lastPosition: null, isComplete: count < maxReplayed };
}
