import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { RunReconciliationProcessor } from './run-reconciliation.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ReconciliationModule } from '../reconciliation.module.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';
import { Schedules } from './schedules.service.js';

@Module({
  imports: [
    BullModule.registerQueue({ name: jobs.runReconciliation.name }, { name: jobs.closeDays.name }),
    EventsModule,
    StatementModule,
    ReconciliationModule,
  ],
  controllers: [RunsController],
  providers: [RunReconciliationProcessor, RunsService, Schedules],
  exports: [RunsService, Schedules],
})
export class RunsModule {}
