import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { SyncStatementProcessor } from './sync-statement.processor.js';
import { CloseStatementProcessor } from './close-statement.processor.js';
import { Module } from '@nestjs/common';
import { BankTime } from './bank-time.service.js';
import { SyncSchedule } from './sync-schedule.service.js';
import { StatementClosing } from './statement-closing.service.js';
import { PacedSync } from './paced-sync.service.js';
import { StatementController } from './statement.controller.js';
import { StatementMetrics } from './statement-metrics.service.js';
import { StatementSync } from './statement-sync.service.js';
import { UnreadableLinesController } from './unreadable-lines.controller.js';
import { UnreadableLines } from './unreadable-lines.service.js';

@Module({
  imports: [
    BullModule.registerQueue(
      { name: jobs.syncStatement.name },
      { name: jobs.closeStatement.name },
      { name: jobs.reconcile.name },
      { name: jobs.processWebhooks.name },
    ),
  ],
  controllers: [StatementController, UnreadableLinesController],
  providers: [
    SyncStatementProcessor,
    CloseStatementProcessor,
    StatementSync,
    PacedSync,
    StatementClosing,
    BankTime,
    SyncSchedule,
    UnreadableLines,
    StatementMetrics,
  ],
  exports: [BankTime, StatementClosing, StatementSync, UnreadableLines],
})
export class StatementModule {}
