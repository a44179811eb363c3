import { Module } from '@nestjs/common';
import { SandboxAccountsModule } from '../accounts/accounts.module.js';
import { SandboxDueWorkModule } from '../due-work/due-work.module.js';
import { SandboxIdempotencyModule } from '../idempotency/idempotency.module.js';
import { SandboxLedgerModule } from '../ledger/ledger.module.js';
import { SandboxPixModule } from '../pix/pix.module.js';
import { SandboxWebhooksModule } from '../webhooks/webhooks.module.js';
import { BatchPlans } from './batch-plans.service.js';
import { BatchTransfers } from './batch-transfers.service.js';
import { DictKeys } from './dict-keys.service.js';
import { InternalTransfers } from './internal-transfers.service.js';
import { ReturnedPixes } from './returned-pixes.service.js';
import { SentPixLifecycle } from './sent-pix-lifecycle.service.js';
import { SentPixes } from './sent-pixes.service.js';
import { SandboxTransfersControlController } from './transfers-control.controller.js';
import { SandboxTransfersController } from './transfers.controller.js';
import { Transfers } from './transfers.service.js';

@Module({
  imports: [
    SandboxAccountsModule,
    SandboxDueWorkModule,
    SandboxIdempotencyModule,
    SandboxLedgerModule,
    SandboxPixModule,
    SandboxWebhooksModule,
  ],
  controllers: [SandboxTransfersController, SandboxTransfersControlController],
  providers: [
    SentPixLifecycle,
    SentPixes,
    InternalTransfers,
    Transfers,
    BatchPlans,
    BatchTransfers,
    DictKeys,
    ReturnedPixes,
  ],
})
export class SandboxTransfersModule {}
