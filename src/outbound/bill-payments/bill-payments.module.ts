import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { CheckBillPaymentStatusesProcessor } from './check-bill-payment-statuses.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { BillPaymentLifecycle } from './bill-payment-lifecycle.service.js';
import { BillPaymentViews } from './bill-payment-views.service.js';
import { BillPaymentsController } from './bill-payments.controller.js';
import { BillPaymentsService } from './bill-payments.service.js';

@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.checkBillPaymentStatuses.name },
      { name: jobs.closeStatement.name },
    ),
    OperationsModule,
    StatementModule,
    EventsModule,
  ],
  controllers: [BillPaymentsController],
  providers: [
    CheckBillPaymentStatusesProcessor,
    BillPaymentsService,
    BillPaymentLifecycle,
    BillPaymentViews,
  ],
  exports: [BillPaymentViews],
})
export class BillPaymentsModule {}
