import { Module } from '@nestjs/common';
import { BillPaymentsModule } from '../../outbound/bill-payments/bill-payments.module.js';
import { ChargesModule } from '../../outbound/charges/charges.module.js';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module.js';
import { RefundsModule } from '../../outbound/refunds/refunds.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { TransfersModule } from '../../outbound/transfers/transfers.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { PaymentControlsModule } from '../../outbound/payment-controls/payment-controls.module.js';
import { AlertsModule } from '../../reporting/alerts/alerts.module.js';
import { AlarmPage } from './alarm.controller.js';
import { PaymentLists } from './payment-lists.controller.js';
import { LineReading } from './line-reading.service.js';
import { LineExplanations } from './line-explanations.service.js';
import { LinePage } from './line.controller.js';
import { RecordSearch } from './search.service.js';
import { SearchPage } from './search.controller.js';
import { StatementPages } from './statement-list.controller.js';

/** The search, the lists of payments, and the statement. */
@Module({
  imports: [
    ConsoleFrameModule,
    BillPaymentsModule,
    ChargesModule,
    OperationsModule,
    ReconciliationModule,
    RefundsModule,
    StatementModule,
    TransfersModule,
    PaymentControlsModule,
    AlertsModule,
  ],
  controllers: [SearchPage, PaymentLists, StatementPages, LinePage, AlarmPage],
  providers: [RecordSearch, LineExplanations, LineReading],
})
export class SearchPagesModule {}
