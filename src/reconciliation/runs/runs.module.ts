import { Module, type OnModuleInit } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { Timers } from '../../platform/timers.js';
import { StatementModule } from '../../statement/statement.module.js';
import { ReconciliationModule } from '../reconciliation.module.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';
import { Schedules } from './schedules.service.js';

const dueEveryMs = 1_000;
const runningEveryMs = 5_000;

@Module({
  imports: [EventsModule, StatementModule, ReconciliationModule],
  controllers: [RunsController],
  providers: [RunsService, Schedules],
})
export class RunsModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly runs: RunsService,
    private readonly schedules: Schedules,
  ) {}

  onModuleInit(): void {
    this.timers.every('schedules', dueEveryMs, () => this.schedules.beginDue());
    this.timers.every('runs', runningEveryMs, () => this.runs.enqueueRunning());
  }
}
