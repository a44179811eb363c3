import { Module } from '@nestjs/common';
import { SandboxAccountsModule } from '../accounts/accounts.module.js';
import { SandboxDueWorkModule } from '../due-work/due-work.module.js';
import { SandboxLedgerModule } from '../ledger/ledger.module.js';
import { SandboxPixModule } from '../pix/pix.module.js';
import { SandboxStatementModule } from '../statement/statement.module.js';
import { SandboxWebhooksModule } from '../webhooks/webhooks.module.js';
import { OriginalPixes } from './original-pixes.service.js';
import { RefundMovements } from './refund-movements.service.js';
import { RefundOutcomes } from './refund-outcomes.service.js';
import { SandboxRefundsController } from './refunds.controller.js';
import { Refunds } from './refunds.service.js';

@Module({
  imports: [
    SandboxAccountsModule,
    SandboxDueWorkModule,
    SandboxLedgerModule,
    SandboxPixModule,
    SandboxStatementModule,
    SandboxWebhooksModule,
  ],
  controllers: [SandboxRefundsController],
  providers: [OriginalPixes, RefundMovements, RefundOutcomes, Refunds],
})
export class SandboxRefundsModule {}
