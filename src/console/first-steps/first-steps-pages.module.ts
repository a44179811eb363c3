import { Module } from '@nestjs/common';
import { AccountsModule } from '../../access/accounts/accounts.module.js';
import { ChargesModule } from '../../outbound/charges/charges.module.js';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { TransfersModule } from '../../outbound/transfers/transfers.module.js';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module.js';
import { ExpectedPaymentsModule } from '../../statement/expected-payments/expected-payments.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { DemoShop } from './demo-shop.service.js';
import { FirstStepsPage } from './first-steps.controller.js';
import { ServiceAddress } from './service-address.service.js';

/** The first visit of an account. */
@Module({
  imports: [
    ConsoleFrameModule,
    AccountsModule,
    ChargesModule,
    ExpectedPaymentsModule,
    OperationsModule,
    ReconciliationModule,
    StatementModule,
    TransfersModule,
  ],
  controllers: [FirstStepsPage],
  providers: [DemoShop, ServiceAddress],
  exports: [DemoShop],
})
export class FirstStepsPagesModule {}
