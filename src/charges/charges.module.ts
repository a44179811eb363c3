import { Module, type OnModuleInit } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { OperationsModule } from '../operations/operations.module.js';
import { Timers } from '../platform/timers.js';
import { JobQueue } from '../platform/job-queue.js';
import { StatementModule } from '../statement/statement.module.js';
import { ChargeLife } from './charge-life.service.js';
import { ChargeLookUp } from './charge-look-up.service.js';
import { ChargesController } from './charges.controller.js';
import { ChargesService } from './charges.service.js';

const sweepEveryMs = 1_000;

@Module({
  imports: [EventsModule, OperationsModule, StatementModule],
  controllers: [ChargesController],
  providers: [ChargesService, ChargeLookUp, ChargeLife],
  exports: [ChargesService],
})
export class ChargesModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly life: ChargeLife,
    private readonly jobQueue: JobQueue,
  ) {}

  onModuleInit(): void {
    this.timers.every('charges', sweepEveryMs, async () => {
      for (const account of await this.life.listAccountsWithDue())
        await this.jobQueue.enqueue('followCharges', account);
    });
  }
}
