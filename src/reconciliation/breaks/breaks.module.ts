import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { OperationsModule } from '../../operations/operations.module.js';
import { RefundsModule } from '../../refunds/refunds.module.js';
import { StatementModule } from '../../statement/statement.module.js';
import { ReconciliationModule } from '../reconciliation.module.js';
import { BreakActions } from './break-actions.service.js';
import { BreakReading } from './break-reading.service.js';
import { BreakRefunds } from './break-refunds.service.js';
import { BreaksController } from './breaks.controller.js';
import { ManualMatches } from './manual-matches.service.js';
import { MatchesController } from './matches.controller.js';
import { RefundPolicies } from './refund-policies.service.js';
import { SeveritySettings } from './severity-steps.service.js';

@Module({
  imports: [EventsModule, StatementModule, OperationsModule, RefundsModule, ReconciliationModule],
  controllers: [BreaksController, MatchesController],
  providers: [
    BreakReading,
    BreakActions,
    BreakRefunds,
    ManualMatches,
    RefundPolicies,
    SeveritySettings,
  ],
  exports: [BreakReading],
})
export class BreaksModule {}
