import { Module, type OnModuleInit } from '@nestjs/common';
import { ExpectedPaymentsModule } from '../expected-payments/expected-payments.module.js';
import { Timers } from '../platform/timers.js';
import { OperationSender } from './operation-sender.service.js';
import { OperationsController } from './operations.controller.js';
import { OperationsProcessor } from './operations.processor.js';
import { OperationsService } from './operations.service.js';

const sweepEveryMs = 1_000;

@Module({
  imports: [ExpectedPaymentsModule],
  controllers: [OperationsController],
  providers: [OperationsService, OperationSender, OperationsProcessor],
  exports: [OperationsService],
})
export class OperationsModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly sender: OperationSender,
  ) {}

  onModuleInit(): void {
    this.timers.every('operations', sweepEveryMs, () => this.sender.wakeDue());
  }
}
