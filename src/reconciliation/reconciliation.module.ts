import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { StatementModule } from '../statement/statement.module.js';
import { TransactionViews } from './api/transaction-views.service.js';
import { BookController } from './api/transactions.controller.js';
import { Breaks } from './breaks.service.js';
import { ReconciliationMetrics } from './reconciliation-metrics.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RuleCatalog } from './rules/rule-catalog.service.js';
import { RuleTrials } from './rules/rule-trials.service.js';
import { RulesController } from './rules/rules.controller.js';
import { DecisionWriter } from './apply.service.js';

@Module({
  imports: [EventsModule, StatementModule],
  controllers: [BookController, RulesController],
  providers: [
    ReconciliationService,
    DecisionWriter,
    Breaks,
    RuleCatalog,
    RuleTrials,
    ReconciliationMetrics,
    TransactionViews,
  ],
  exports: [Breaks, ReconciliationService, TransactionViews],
})
export class ReconciliationModule {}
