import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { CreditDaysController } from './credit-days.controller.js';
import { CreditDaysSettings } from './credit-days.service.js';
import { DeclaredPaymentsController } from './declared-payments.controller.js';
import { DeclaredPayments } from './declared-payments.service.js';

@Module({
  imports: [BullModule.registerQueue({ name: jobs.reconcile.name }), EventsModule],
  controllers: [DeclaredPaymentsController, CreditDaysController],
  providers: [DeclaredPayments, CreditDaysSettings],
  exports: [DeclaredPayments, CreditDaysSettings],
})
export class ExpectedPaymentsModule {}
