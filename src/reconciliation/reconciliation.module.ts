import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ExpectedPaymentsModule } from '../expected-payments/expected-payments.module.js';
import { StatementModule } from '../statement/statement.module.js';
import { BookController } from './api/transactions.controller.js';
import { Breaks } from './breaks.service.js';
import { ReconciliationService } from './reconciliation.service.js';
import { RuleCatalog } from './rules/rule-catalog.service.js';
import { RuleReader } from './rules/rule-reader.service.js';
import { RuleTrials } from './rules/rule-trials.service.js';
import { RulesController } from './rules/rules.controller.js';
import { StatementBreaks } from './statement-breaks.service.js';
import { DecisionWriter } from './apply.service.js';
import { Components } from './component.service.js';

@Module({
  imports: [EventsModule, ExpectedPaymentsModule, StatementModule],
  controllers: [BookController, RulesController],
  providers: [
    ReconciliationService,
    Components,
    DecisionWriter,
    Breaks,
    StatementBreaks,
    RuleCatalog,
    RuleReader,
    RuleTrials,
  ],
  exports: [Breaks, ReconciliationService, StatementBreaks],
})
export class ReconciliationModule {}
