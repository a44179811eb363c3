import { Module, type OnModuleInit } from '@nestjs/common';
import { Timers } from '../platform/timers.js';
import { DeliveryService } from './delivery.service.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

const sweepEveryMs = 1_000;

@Module({
  controllers: [EndpointsController, EventsController],
  providers: [EventsService, EndpointsService, DeliveryService],
  exports: [EventsService],
})
export class EventsModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly events: EventsService,
  ) {}

  onModuleInit(): void {
    this.timers.every('deliveries', sweepEveryMs, () => this.events.enqueueDeliveries(null));
  }
}
