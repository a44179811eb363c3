import { Module } from '@nestjs/common';
import { BillPaymentsModule } from '../../outbound/bill-payments/bill-payments.module.js';
import { ChargesModule } from '../../outbound/charges/charges.module.js';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { BreaksModule } from '../../reconciliation/breaks/breaks.module.js';
import { RefundsModule } from '../../outbound/refunds/refunds.module.js';
import { TransfersModule } from '../../outbound/transfers/transfers.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { ChargeVoidPages } from './charge-void.controller.js';
import { ChargePages } from './charges.controller.js';
import { OperationPages } from './operations.controller.js';
import { PaymentStories } from './payment-stories.service.js';
import { RefundRequestPages } from './refund-request.controller.js';
import { SentMoneyPages } from './sent-money.controller.js';

/** The record of each payment: its facts, its story, and what people do from there. */
@Module({
  imports: [
    ConsoleFrameModule,
    BillPaymentsModule,
    BreaksModule,
    ChargesModule,
    OperationsModule,
    RefundsModule,
    TransfersModule,
  ],
  controllers: [ChargePages, ChargeVoidPages, SentMoneyPages, OperationPages, RefundRequestPages],
  providers: [PaymentStories],
})
export class PaymentsPagesModule {}
