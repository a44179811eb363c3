import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { RefundByPolicyProcessor } from './refund-by-policy.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { OperationsModule } from '../../outbound/operations/operations.module.js';
import { RefundsModule } from '../../outbound/refunds/refunds.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ReconciliationModule } from '../reconciliation.module.js';
import { BreakActions } from './break-actions.service.js';
import { BreakCommentsController } from './break-comments.controller.js';
import { BreakComments } from './break-comments.service.js';
import { BreakPlansController } from './break-plans.controller.js';
import { BreakPlans } from './break-plans.service.js';
import { BreakReading } from './break-reading.service.js';
import { BreakRefunds } from './break-refunds.service.js';
import { BreakSides } from './break-sides.service.js';
import { BreaksController } from './breaks.controller.js';
import { CounterpartyHistory } from './counterparty-history.service.js';
import { DecisionBatches } from './decision-batches.service.js';
import { ManualMatches } from './manual-matches.service.js';
import { MatchesController } from './matches.controller.js';
import { ReasonCodesController } from './reason-codes.controller.js';
import { ReasonCodes } from './reason-codes.service.js';
import { RefundPolicies } from './refund-policies.service.js';
import { SeveritySettings } from './severity-steps.service.js';

@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.refundByPolicy.name },
      { name: jobs.closeStatement.name },
    ),
    EventsModule,
    StatementModule,
    OperationsModule,
    RefundsModule,
    ReconciliationModule,
  ],
  controllers: [
    BreaksController,
    BreakCommentsController,
    BreakPlansController,
    MatchesController,
    ReasonCodesController,
  ],
  providers: [
    RefundByPolicyProcessor,
    BreakReading,
    BreakPlans,
    BreakActions,
    BreakRefunds,
    ManualMatches,
    ReasonCodes,
    RefundPolicies,
    SeveritySettings,
    BreakComments,
    BreakSides,
    CounterpartyHistory,
    DecisionBatches,
  ],
  exports: [
    ReasonCodes,
    DecisionBatches,
    BreakPlans,
    BreakReading,
    BreakActions,
    BreakComments,
    BreakSides,
    CounterpartyHistory,
  ],
})
export class BreaksModule {}
