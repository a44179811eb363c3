import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { CheckChargeStatusesProcessor } from './check-charge-statuses.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ChargeChangesController } from './charge-changes.controller.js';
import { ChargeChanges } from './charge-changes.service.js';
import { ChargeStatusChecks } from './charge-status.service.js';
import { ChargeLookUp } from './charge-look-up.service.js';
import { ChargesController } from './charges.controller.js';
import { ChargesService } from './charges.service.js';

@Module({
  imports: [
    BullModule.registerQueue({ name: jobs.checkChargeStatuses.name }),
    EventsModule,
    OperationsModule,
    StatementModule,
  ],
  controllers: [ChargesController, ChargeChangesController],
  providers: [
    CheckChargeStatusesProcessor,
    ChargesService,
    ChargeLookUp,
    ChargeChanges,
    ChargeStatusChecks,
  ],
  exports: [ChargesService, ChargeChanges],
})
export class ChargesModule {}
