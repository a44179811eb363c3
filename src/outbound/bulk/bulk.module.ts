import { BullModule } from '@nestjs/bullmq';
import { jobs } from '../../platform/queue/queues.js';
import { IssueBulkRowsProcessor } from './issue-bulk-rows.processor.js';
import { Module } from '@nestjs/common';
import { ChargesModule } from '../charges/charges.module.js';
import { ExpectedPaymentsModule } from '../../statement/expected-payments/expected-payments.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { TransfersModule } from '../transfers/transfers.module.js';
import { BulkApprovals } from './bulk-approvals.service.js';
import { BulkController } from './bulk.controller.js';
import { BulkService } from './bulk.service.js';
import { ChosenFiles } from './chosen-files.service.js';
import { KeyHolders } from './key-holders.service.js';
import { RowIssuer } from './row-issuer.service.js';
import { UploadColumns } from './upload-columns.service.js';
import { BulkUploads } from './uploads.service.js';

@Module({
  imports: [
    BullModule.registerQueue({ name: jobs.issueBulkRows.name }),
    ChargesModule,
    ExpectedPaymentsModule,
    OperationsModule,
    TransfersModule,
  ],
  controllers: [BulkController],
  providers: [
    IssueBulkRowsProcessor,
    BulkService,
    BulkApprovals,
    BulkUploads,
    ChosenFiles,
    KeyHolders,
    RowIssuer,
    UploadColumns,
  ],
  exports: [BulkService, BulkUploads, ChosenFiles, KeyHolders, UploadColumns],
})
export class BulkModule {}
