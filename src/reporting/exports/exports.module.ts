import { Module } from '@nestjs/common';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { AccountDetails } from './account-details.service.js';
import { ExportsController } from './exports.controller.js';
import { FileStreams } from './file-streams.service.js';
import { MonthReports } from './month-reports.service.js';
import { OpenItemFiles } from './open-item-files.service.js';
import { ReadingLimits } from './reading-limits.service.js';
import { TransactionFiles } from './transaction-files.service.js';

@Module({
  imports: [StatementModule],
  controllers: [ExportsController],
  providers: [
    AccountDetails,
    FileStreams,
    OpenItemFiles,
    ReadingLimits,
    TransactionFiles,
    MonthReports,
  ],
  exports: [FileStreams, MonthReports, OpenItemFiles, ReadingLimits, TransactionFiles],
})
export class ExportsModule {}
