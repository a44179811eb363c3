import { Module, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../config.js';
import { Timers } from '../platform/timers.js';
import { BankTime } from './bank-time.service.js';
import { SyncSchedule } from './sync-schedule.service.js';
import { LiveBalance } from './live-balance.service.js';
import { StatementClosing } from './statement-closing.service.js';
import { StatementSync } from './statement-sync.service.js';
import { StatementController } from './statement.controller.js';
import { StatementService } from './statement.service.js';
import { UnreadableLinesController } from './unreadable-lines.controller.js';
import { UnreadableLines } from './unreadable-lines.service.js';

/**
 * A sync that is this many intervals overdue is enqueued without coalescing. Its job was lost with
 * the queue, or a killed worker did not release the job's lock.
 */
const overdueAfterIntervals = 3;
/**
 * How often the service enqueues due syncs. An account's own interval may be shorter than the
 * configured interval.
 */
const maxTickMs = 1_000;
const closingIntervalMs = 5_000;

@Module({
  controllers: [StatementController, UnreadableLinesController],
  providers: [
    StatementService,
    StatementSync,
    StatementClosing,
    BankTime,
    SyncSchedule,
    LiveBalance,
    UnreadableLines,
  ],
  exports: [BankTime, SyncSchedule, StatementClosing, StatementService],
})
export class StatementModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly statement: StatementService,
    private readonly schedule: SyncSchedule,
    private readonly closing: StatementClosing,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const configuredMs = this.settings.syncIntervalMs;
    this.timers.every('statement', Math.min(configuredMs, maxTickMs), () =>
      this.schedule.enqueueDue(configuredMs),
    );
    this.timers.every('overdue-statement', configuredMs, () =>
      this.statement.enqueueOverdue(overdueAfterIntervals, configuredMs),
    );
    this.timers.every('closing', closingIntervalMs, () => this.closing.enqueueDue());
  }
}
