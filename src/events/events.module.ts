import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../platform/queue/queues.js';
import { DeliverEventsProcessor } from './deliver-events.processor.js';
import { Module } from '@nestjs/common';
import { Deliveries } from './delivery-lists.service.js';
import { DeliveryService } from './delivery.service.js';
import { EndpointClient } from './endpoint-client.service.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { EventCounterparties } from './event-counterparties.service.js';
import { EventMetrics } from './event-metrics.service.js';
import { EventRetention } from './event-retention.service.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { NameResolver } from './name-resolver.service.js';

@Module({
  imports: [BullModule.registerQueue({ name: jobs.deliverEvents.name })],
  controllers: [EndpointsController, EventsController],
  providers: [
    DeliverEventsProcessor,
    EventCounterparties,
    EventsService,
    EventRetention,
    EndpointsService,
    DeliveryService,
    Deliveries,
    EndpointClient,
    EventMetrics,
    { provide: NameResolver, useFactory: () => new NameResolver() },
  ],
  exports: [EventsService, EndpointClient, EndpointsService, DeliveryService, Deliveries],
})
export class EventsModule {}
