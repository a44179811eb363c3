import { Module, type OnModuleInit } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ExpectedPaymentsModule } from '../expected-payments/expected-payments.module.js';
import { Timers } from '../platform/timers.js';
import { StatementModule } from '../statement/statement.module.js';
import { BookController } from './api/transactions.controller.js';
import { Breaks } from './breaks.service.js';
import { MissingPayments } from './missing-payments.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RuleCatalog } from './rules/rule-catalog.service.js';
import { RuleReader } from './rules/rule-reader.service.js';
import { RuleTrials } from './rules/rule-trials.service.js';
import { RulesController } from './rules/rules.controller.js';
import { AccountBreaks } from './account-breaks.service.js';
import { DecisionWriter } from './apply.service.js';
import { Components } from './component.service.js';

const sweepEveryMs = 1_000;
const contradictedEveryMs = 5_000;
const missingEveryMs = 5_000;

@Module({
  imports: [EventsModule, ExpectedPaymentsModule, StatementModule],
  controllers: [BookController, RulesController],
  providers: [
    ReconciliationService,
    Components,
    DecisionWriter,
    Breaks,
    AccountBreaks,
    MissingPayments,
    RuleCatalog,
    RuleReader,
    RuleTrials,
  ],
  exports: [Breaks, MissingPayments, ReconciliationService],
})
export class ReconciliationModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly reconciliation: ReconciliationService,
    private readonly accountBreaks: AccountBreaks,
    private readonly missing: MissingPayments,
  ) {}

  onModuleInit(): void {
    this.timers.every('reconciliation', sweepEveryMs, () => this.reconciliation.enqueueDue());
    this.timers.every('contradictions', contradictedEveryMs, () =>
      this.accountBreaks.enqueueContradicted(),
    );
    this.timers.every('missing', missingEveryMs, () => this.missing.enqueueDue());
  }
}
