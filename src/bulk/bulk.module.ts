import { Module, type OnModuleInit } from '@nestjs/common';
import { ChargesModule } from '../charges/charges.module.js';
import { Timers } from '../platform/timers.js';
import { TransfersModule } from '../transfers/transfers.module.js';
import { BulkController } from './bulk.controller.js';
import { BulkService } from './bulk.service.js';
import { RowIssuer } from './row-issuer.service.js';

const sweepEveryMs = 2_000;

@Module({
  imports: [ChargesModule, TransfersModule],
  controllers: [BulkController],
  providers: [BulkService, RowIssuer],
})
export class BulkModule implements OnModuleInit {
  constructor(
    private readonly timers: Timers,
    private readonly bulk: BulkService,
  ) {}

  onModuleInit(): void {
    this.timers.every('bulk', sweepEveryMs, () => this.bulk.enqueueUnfinished());
  }
}
