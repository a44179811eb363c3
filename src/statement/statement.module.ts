import { Module, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../config.js';
import { Timers } from '../platform/timers.js';
import { BankTime } from './bank-time.service.js';
import { Cadence } from './cadence.service.js';
import { LiveBalance } from './live-balance.service.js';
import { StatementClosing } from './statement-closing.service.js';
import { StatementSync } from './statement-sync.service.js';
import { StatementController } from './statement.controller.js';
import { StatementService } from './statement.service.js';
import { UnreadableLinesController } from './unreadable-lines.controller.js';
import { UnreadableLines } from './unreadable-lines.service.js';

/** A poll this many intervals overdue was lost with its queue, or hangs on a lock that nobody holds. */
const lateAfterIntervals = 3;
/** An account may be polled more often than the settings say. */
const tickMs = 1_000;
const closingEveryMs = 5_000;

@Module({
  controllers: [StatementController, UnreadableLinesController],
  providers: [
    StatementService,
    StatementSync,
    StatementClosing,
    BankTime,
    Cadence,
    LiveBalance,
    UnreadableLines,
  ],
  exports: [BankTime, Cadence, StatementClosing, StatementService],
})
export class StatementModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly statement: StatementService,
    private readonly cadence: Cadence,
    private readonly closing: StatementClosing,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const usualMs = this.settings.syncIntervalMs;
    this.timers.every('statement', Math.min(usualMs, tickMs), () => this.cadence.enqueueDue(usualMs));
    this.timers.every('overdue-statement', usualMs, () =>
      this.statement.enqueueOverdue(lateAfterIntervals, usualMs),
    );
    this.timers.every('closing', closingEveryMs, () => this.closing.enqueueDue());
  }
}
