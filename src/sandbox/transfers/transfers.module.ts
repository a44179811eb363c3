import { Module } from '@nestjs/common';
import { PixLookups } from '../pix/pix-lookups.service.js';
import { BatchPlans } from './batch-plans.service.js';
import { BatchTransfers } from './batch-transfers.service.js';
import { DictKeys } from './dict-keys.service.js';
import { InternalTransfers } from './internal-transfers.service.js';
import { ReturnedPixes } from './returned-pixes.service.js';
import { ScheduledTransfers } from './scheduled-transfers.service.js';
import { SentPixLifecycle } from './sent-pix-lifecycle.service.js';
import { SentPixes } from './sent-pixes.service.js';
import { SandboxTransfersControlController } from './transfers-control.controller.js';
import { SandboxTransfersController } from './transfers.controller.js';
import { TedLifecycle } from './ted-lifecycle.service.js';
import { SandboxTeds } from './ted-transfers.service.js';
import { Transfers } from './transfers.service.js';

@Module({
  controllers: [SandboxTransfersController, SandboxTransfersControlController],
  providers: [
    PixLookups,
    ScheduledTransfers,
    SentPixLifecycle,
    SentPixes,
    InternalTransfers,
    Transfers,
    BatchPlans,
    BatchTransfers,
    TedLifecycle,
    SandboxTeds,
    DictKeys,
    ReturnedPixes,
  ],
})
export class SandboxTransfersModule {}
