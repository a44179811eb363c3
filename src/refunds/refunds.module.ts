import { Module } from '@nestjs/common';
import { ExpectedPaymentsModule } from '../expected-payments/expected-payments.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { StatementModule } from '../statement/statement.module.js';
import { ReceivedPixFinder } from './received-pix.service.js';
import { RefundsController } from './refunds.controller.js';
import { RefundsService } from './refunds.service.js';

@Module({
  imports: [OperationsModule, StatementModule, ExpectedPaymentsModule],
  controllers: [RefundsController],
  providers: [RefundsService, ReceivedPixFinder],
  exports: [RefundsService],
})
export class RefundsModule {}
