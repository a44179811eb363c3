import { Module, type OnModuleInit } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { Timers } from '../platform/timers.js';
import { JobQueue } from '../platform/job-queue.js';
import { StatementModule } from '../statement/statement.module.js';
import { ChargeStatusChecks } from './charge-status.service.js';
import { ChargeLookUp } from './charge-look-up.service.js';
import { ChargesController } from './charges.controller.js';
import { ChargesService } from './charges.service.js';

const sweepEveryMs = 1_000;

@Module({
  imports: [EventsModule, OperationsModule, StatementModule],
  controllers: [ChargesController],
  providers: [ChargesService, ChargeLookUp, ChargeStatusChecks],
  exports: [ChargesService],
})
export class ChargesModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly statusChecks: ChargeStatusChecks,
    private readonly jobQueue: JobQueue,
  ) {}

  onModuleInit(): void {
    this.timers.every('charges', sweepEveryMs, async () => {
      for (const account of await this.statusChecks.listAccountsWithDueCharges())
        await this.jobQueue.enqueue('checkChargeStatuses', account);
    });
  }
}
