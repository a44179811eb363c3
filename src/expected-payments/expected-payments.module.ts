import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { DeclaredPaymentsController } from './declared-payments.controller.js';
import { DeclaredPayments } from './declared-payments.service.js';

@Module({
  imports: [EventsModule],
  controllers: [DeclaredPaymentsController],
  providers: [DeclaredPayments],
  exports: [DeclaredPayments],
})
export class ExpectedPaymentsModule {}
