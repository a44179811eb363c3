import { Module, type OnModuleInit } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ExpectedPaymentsModule } from '../expected-payments/expected-payments.module.js';
import { Timers } from '../platform/timers.js';
import { StatementModule } from '../statement/statement.module.js';
import { BookController } from './book.controller.js';
import { Breaks } from './breaks.service.js';
import { ReconciliationProcessor } from './reconciliation.processor.js';
import { ReconciliationService } from './reconciliation.service.js';
import { DeclaredRules } from './rules/declared-rules.service.js';
import { RuleCatalog } from './rules/rule-catalog.service.js';
import { RuleReader } from './rules/rule-reader.service.js';
import { RuleTrials } from './rules/rule-trials.service.js';
import { RulesController } from './rules/rules.controller.js';
import { StandingBreaks } from './standing-breaks.service.js';
import { VerdictWriter } from './verdict-writer.service.js';
import { VerdictsController } from './verdicts.controller.js';

const sweepEveryMs = 1_000;
const contradictedEveryMs = 5_000;
const rulesEveryMs = 15_000;

@Module({
  imports: [EventsModule, ExpectedPaymentsModule, StatementModule],
  controllers: [BookController, RulesController, VerdictsController],
  providers: [
    ReconciliationService,
    VerdictWriter,
    Breaks,
    StandingBreaks,
    DeclaredRules,
    RuleCatalog,
    RuleReader,
    RuleTrials,
    ReconciliationProcessor,
  ],
  exports: [Breaks],
})
export class ReconciliationModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly reconciliation: ReconciliationService,
    private readonly standing: StandingBreaks,
  ) {}

  onModuleInit(): void {
    this.timers.every('reconciliation', sweepEveryMs, () => this.reconciliation.wakeUnjudged());
    this.timers.every('contradictions', contradictedEveryMs, () =>
      this.standing.wakeContradicted(),
    );
    this.timers.every('rules', rulesEveryMs, () => this.reconciliation.wakeUnreviewed());
  }
}
