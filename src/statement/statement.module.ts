import { Module, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../config.js';
import { Timers } from '../platform/timers.js';
import { BankTime } from './bank-time.service.js';
import { CloseStatementProcessor } from './close-statement.processor.js';
import { StatementClosing } from './statement-closing.service.js';
import { StatementController } from './statement.controller.js';
import { StatementProcessor } from './statement.processor.js';
import { StatementService } from './statement.service.js';

/** A poll this many intervals overdue was lost with its queue, or hangs on a lock that nobody holds. */
const lateAfterIntervals = 3;

@Module({
  controllers: [StatementController],
  providers: [
    StatementService,
    StatementClosing,
    BankTime,
    StatementProcessor,
    CloseStatementProcessor,
  ],
  exports: [BankTime, StatementService],
})
export class StatementModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly statement: StatementService,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const everyMs = this.settings.syncIntervalMs;
    this.timers.every('statement', everyMs, async () => {
      await this.statement.wakeAll();
      await this.statement.wakeOverdue(everyMs * lateAfterIntervals);
    });
  }
}
