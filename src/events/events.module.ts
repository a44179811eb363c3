import { Module } from '@nestjs/common';
import { DeliveryService } from './delivery.service.js';
import { EndpointsController } from './endpoints.controller.js';
import { EndpointsService } from './endpoints.service.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

@Module({
  controllers: [EndpointsController, EventsController],
  providers: [EventsService, EndpointsService, DeliveryService],
  exports: [EventsService],
})
export class EventsModule {}
