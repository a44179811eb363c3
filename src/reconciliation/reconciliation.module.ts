import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../platform/queue/queues.js';
import { ReconcileProcessor } from './apply/reconcile.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { StatementModule } from '../statement/lines/statement.module.js';
import { ExpectedPaymentReading } from './api/expected-payment-reading.service.js';
import { TransactionViews } from './api/transaction-views.service.js';
import { BookController } from './api/transactions.controller.js';
import { BreakWriter } from './apply/break-writer.service.js';
import { FeeBreaks } from './apply/fee-breaks.service.js';
import { ReconciliationMetrics } from './apply/reconciliation-metrics.service.js';
import { ReconciliationService } from './apply/reconciliation.service.js';
import { RuleCatalog } from './rules/rule-catalog.service.js';
import { RuleTrials } from './rules/rule-trials.service.js';
import { RulesController } from './rules/rules.controller.js';
import { DecisionWriter } from './apply/decision-writer.service.js';

@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.reconcile.name },
      { name: jobs.advanceOperation.name },
      { name: jobs.raiseAlerts.name },
    ),
    EventsModule,
    StatementModule,
  ],
  controllers: [BookController, RulesController],
  providers: [
    ReconcileProcessor,
    ExpectedPaymentReading,
    ReconciliationService,
    DecisionWriter,
    BreakWriter,
    FeeBreaks,
    RuleCatalog,
    RuleTrials,
    ReconciliationMetrics,
    TransactionViews,
  ],
  exports: [
    BreakWriter,
    ExpectedPaymentReading,
    ReconciliationService,
    RuleCatalog,
    RuleTrials,
    TransactionViews,
  ],
})
export class ReconciliationModule {}
