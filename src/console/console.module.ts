import { Module } from '@nestjs/common';
import { AccountsPagesModule } from './accounts/accounts-pages.module.js';
import { ApprovalsPagesModule } from './approvals/approvals-pages.module.js';
import { AssetsController } from './assets.controller.js';
import { BreaksPagesModule } from './breaks/breaks-pages.module.js';
import { ComponentsPagesModule } from './components/components-pages.module.js';
import { ConnectionsPagesModule } from './connections/connections-pages.module.js';
import { ConsoleFrameModule } from './serving/console-frame.module.js';
import { DaysPagesModule } from './days/days-pages.module.js';
import { ExpectedPaymentsPagesModule } from './expected-payments/expected-payments-pages.module.js';
import { FilesPagesModule } from './files/files-pages.module.js';
import { FirstStepsPagesModule } from './first-steps/first-steps-pages.module.js';
import { PayerPagesModule } from './payer/payer-pages.module.js';
import { PaymentsPagesModule } from './payments/payments-pages.module.js';
import { PeoplePagesModule } from './people/people-pages.module.js';
import { RulesPagesModule } from './rules/rules-pages.module.js';
import { SearchPagesModule } from './search/search-pages.module.js';
import { SettingsPagesModule } from './settings/settings-pages.module.js';
import { JournalPagesModule } from './journal/journal-pages.module.js';
import { MonthsPagesModule } from './months/months-pages.module.js';
import { TariffsPagesModule } from './tariffs/tariffs-pages.module.js';
import { TodayPagesModule } from './today/today-pages.module.js';

/** The console: a module for each area of it. */
@Module({
  imports: [
    ConsoleFrameModule,
    PeoplePagesModule,
    TodayPagesModule,
    AccountsPagesModule,
    PayerPagesModule,
    FirstStepsPagesModule,
    FilesPagesModule,
    SettingsPagesModule,
    ApprovalsPagesModule,
    BreaksPagesModule,
    ExpectedPaymentsPagesModule,
    RulesPagesModule,
    SearchPagesModule,
    PaymentsPagesModule,
    DaysPagesModule,
    MonthsPagesModule,
    JournalPagesModule,
    TariffsPagesModule,
    ConnectionsPagesModule,
    ComponentsPagesModule,
  ],
  controllers: [AssetsController],
})
export class ConsoleModule {}
