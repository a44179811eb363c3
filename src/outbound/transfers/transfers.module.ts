import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { CheckTransferStatusesProcessor } from './check-transfer-statuses.processor.js';
import { Module } from '@nestjs/common';
import { EventsModule } from '../../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { FailedTransfers } from './failed-transfers.service.js';
import { PixLookupsService } from './pix-lookups.service.js';
import { TedTransfers } from './ted-transfers.service.js';
import { TransferBatches } from './transfer-batches.service.js';
import { TransferStatusChecks } from './transfer-status-checks.service.js';
import { TransferRecords } from './transfer-records.service.js';
import { TransferStatusController } from './transfer-status.controller.js';
import { TransferViews } from './transfer-views.service.js';
import { TransfersController } from './transfers.controller.js';
import { TransfersService } from './transfers.service.js';

@Module({
  imports: [
    BullModule.registerQueue({ name: jobs.checkTransferStatuses.name }),
    EventsModule,
    OperationsModule,
    StatementModule,
  ],
  controllers: [TransfersController, TransferStatusController],
  providers: [
    CheckTransferStatusesProcessor,
    FailedTransfers,
    PixLookupsService,
    TransferRecords,
    TransfersService,
    TransferBatches,
    TedTransfers,
    TransferStatusChecks,
    TransferViews,
  ],
  exports: [PixLookupsService, TransferViews, TransfersService],
})
export class TransfersModule {}
