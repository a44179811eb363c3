import { Module } from '@nestjs/common';
import { CashForecastModule } from '../../reporting/cash-forecast/cash-forecast.module.js';
import { ExpectedPaymentsModule } from '../../statement/expected-payments/expected-payments.module.js';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { DeclaredPaymentPages } from './declared-payment.controller.js';
import { ExpectedPaymentPages } from './expected-payments.controller.js';
import { ForecastPage } from './forecast.controller.js';

/** Payments that should appear on the statement, and what they make of the balance. */
@Module({
  imports: [ConsoleFrameModule, CashForecastModule, ExpectedPaymentsModule, ReconciliationModule],
  controllers: [DeclaredPaymentPages, ExpectedPaymentPages, ForecastPage],
})
export class ExpectedPaymentsPagesModule {}
