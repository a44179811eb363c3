import { Module } from '@nestjs/common';
import { AccountPagesModule } from './accounts/account-pages.module.js';
import { ApprovalPagesModule } from './approvals/approvals-pages.module.js';
import { AssetsController } from './assets.controller.js';
import { BreaksPagesModule } from './breaks/breaks-pages.module.js';
import { ConnectionPagesModule } from './connections/connection-pages.module.js';
import { ConsoleFrameModule } from './console-frame.module.js';
import { FilesPagesModule } from './files/files-pages.module.js';
import { FirstStepsPagesModule } from './first-steps/first-steps-pages.module.js';
import { PaymentPagesModule } from './payments/payment-pages.module.js';
import { DaysPagesModule } from './days/days-pages.module.js';
import { PeoplePagesModule } from './people/people-pages.module.js';
import { PayerPagesModule } from './payer/payer-pages.module.js';
import { SettingsPagesModule } from './settings/settings-pages.module.js';
import { ExpectedPaymentsPagesModule } from './expected-payments/expected-payments-pages.module.js';
import { RulesPagesModule } from './rules/rules-pages.module.js';
import { SearchPagesModule } from './search/search-pages.module.js';
import { TodayPagesModule } from './today/today-pages.module.js';

/** The console: a module for each area of it. */
@Module({
  imports: [
    ConsoleFrameModule,
    PeoplePagesModule,
    TodayPagesModule,
    AccountPagesModule,
    PayerPagesModule,
    FirstStepsPagesModule,
    FilesPagesModule,
    SettingsPagesModule,
    ApprovalPagesModule,
    BreaksPagesModule,
    ExpectedPaymentsPagesModule,
    RulesPagesModule,
    SearchPagesModule,
    PaymentPagesModule,
    DaysPagesModule,
    ConnectionPagesModule,
  ],
  controllers: [AssetsController],
})
export class ConsoleModule {}
