import { Module } from '@nestjs/common';
import { SandboxStatementModule } from '../statement/statement.module.js';
import { DisputeNotices } from './dispute-notices.service.js';
import { MedBlocks } from './med-blocks.service.js';
import { OriginalPixes } from './original-pixes.service.js';
import { RefundMovements } from './refund-movements.service.js';
import { RefundOutcomes } from './refund-outcomes.service.js';
import { SandboxRefundsController } from './refunds.controller.js';
import { Refunds } from './refunds.service.js';

@Module({
  imports: [SandboxStatementModule],
  controllers: [SandboxRefundsController],
  providers: [DisputeNotices, MedBlocks, OriginalPixes, RefundMovements, RefundOutcomes, Refunds],
})
export class SandboxRefundsModule {}
