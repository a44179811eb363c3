import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { CloseDaysProcessor } from './close-days.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { ReconciliationModule } from '../../reconciliation/reconciliation.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { SigningKeys } from '../../access/secrets/signing-keys.service.js';
import { DayCertifier } from './day-certifier.service.js';
import { DayCheck } from './day-check.service.js';
import { DayCloseSweeper } from './day-close-sweeper.service.js';
import { DayClosesController } from './day-closes.controller.js';
import { DayCloses } from './day-closes.service.js';
import { DayClosing } from './day-closing.service.js';
import { WaitingDays } from './waiting-days.service.js';

@Module({
  imports: [
    BullModule.registerQueue({ name: jobs.closeDays.name }),
    EventsModule,
    StatementModule,
    ReconciliationModule,
  ],
  controllers: [DayClosesController],
  providers: [
    CloseDaysProcessor,
    DayClosing,
    DayCertifier,
    DayCloseSweeper,
    DayCloses,
    DayCheck,
    SigningKeys,
    WaitingDays,
  ],
  exports: [DayCloses, DayCheck, WaitingDays],
})
export class DayClosesModule {}
