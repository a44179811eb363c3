import { Module } from '@nestjs/common';
import { BankTime } from './bank-time.service.js';
import { SyncSchedule } from './sync-schedule.service.js';
import { StatementClosing } from './statement-closing.service.js';
import { StatementSync } from './statement-sync.service.js';
import { StatementController } from './statement.controller.js';
import { StatementMetrics } from './statement-metrics.service.js';
import { LineRecording } from './line-recording.service.js';
import { UnreadableLinesController } from './unreadable-lines.controller.js';
import { UnreadableLines } from './unreadable-lines.service.js';

@Module({
  controllers: [StatementController, UnreadableLinesController],
  providers: [
    LineRecording,
    StatementSync,
    StatementClosing,
    BankTime,
    SyncSchedule,
    UnreadableLines,
    StatementMetrics,
  ],
  exports: [BankTime, StatementClosing, LineRecording, UnreadableLines],
})
export class StatementModule {}
