import { Module, type OnModuleInit } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ExpectedPaymentsModule } from '../expected-payments/expected-payments.module.js';
import { Timers } from '../platform/timers.js';
import { StatementModule } from '../statement/statement.module.js';
import { BookController } from './book.controller.js';
import { Breaks } from './breaks.service.js';
import { DeclaredRules } from './declared-rules.service.js';
import { MissingPayments } from './missing-payments.service.js';
import { ReconciliationProcessor } from './reconciliation.processor.js';
import { ReconciliationService } from './reconciliation.service.js';
import { SettlementReview } from './settlement-review.service.js';
import { StandingBreaks } from './standing-breaks.service.js';
import { VerdictWriter } from './verdict-writer.service.js';

const sweepEveryMs = 1_000;
const contradictedEveryMs = 5_000;
const missingEveryMs = 5_000;

@Module({
  imports: [EventsModule, ExpectedPaymentsModule, StatementModule],
  controllers: [BookController],
  providers: [
    ReconciliationService,
    VerdictWriter,
    Breaks,
    SettlementReview,
    StandingBreaks,
    MissingPayments,
    DeclaredRules,
    ReconciliationProcessor,
  ],
  exports: [Breaks, MissingPayments, ReconciliationService, SettlementReview],
})
export class ReconciliationModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly reconciliation: ReconciliationService,
    private readonly standing: StandingBreaks,
    private readonly missing: MissingPayments,
  ) {}

  onModuleInit(): void {
    this.timers.every('reconciliation', sweepEveryMs, () => this.reconciliation.wakeUnjudged());
    this.timers.every('contradictions', contradictedEveryMs, () =>
      this.standing.wakeContradicted(),
    );
    this.timers.every('missing', missingEveryMs, () => this.missing.wakeDue());
  }
}
