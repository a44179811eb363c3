import { Module } from '@nestjs/common';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../../statement/lines/statement.module.js';
import { ReceivedPixFinder } from './received-pix.service.js';
import { RefundViews } from './refund-views.service.js';
import { RefundsController } from './refunds.controller.js';
import { RefundsService } from './refunds.service.js';

@Module({
  imports: [OperationsModule, StatementModule],
  controllers: [RefundsController],
  providers: [RefundsService, RefundViews, ReceivedPixFinder],
  exports: [RefundsService, RefundViews],
})
export class RefundsModule {}
