import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { CreditDaysController } from './credit-days.controller.js';
import { CreditDaysSettings } from './credit-days.service.js';
import { DeclaredPaymentsController } from './declared-payments.controller.js';
import { DeclaredPayments } from './declared-payments.service.js';

@Module({
  imports: [EventsModule],
  controllers: [DeclaredPaymentsController, CreditDaysController],
  providers: [DeclaredPayments, CreditDaysSettings],
  exports: [DeclaredPayments, CreditDaysSettings],
})
export class ExpectedPaymentsModule {}
