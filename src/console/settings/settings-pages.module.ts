import { Module } from '@nestjs/common';
import { ExpectedPaymentsModule } from '../../statement/expected-payments/expected-payments.module.js';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { RunsModule } from '../../reconciliation/runs/runs.module.js';
import { ConsoleFrameModule } from '../serving/console-frame.module.js';
import { AccountReading } from './account-facts.service.js';
import { AccountSettingsPages } from './account.controller.js';
import { KeyPages } from './keys.controller.js';

/** The account's own page, and its API keys. */
@Module({
  imports: [ConsoleFrameModule, ExpectedPaymentsModule, OperationsModule, RunsModule],
  controllers: [AccountSettingsPages, KeyPages],
  providers: [AccountReading],
})
export class SettingsPagesModule {}
