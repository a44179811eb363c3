import { Module } from '@nestjs/common';
import { SandboxLedgerModule } from '../ledger/ledger.module.js';
import { SandboxWebhooksModule } from '../webhooks/webhooks.module.js';
import { EndToEndIds, PixCredits } from './pix-credits.service.js';
import { PixLookups } from './pix-lookups.service.js';

@Module({
  imports: [SandboxLedgerModule, SandboxWebhooksModule],
  providers: [EndToEndIds, PixCredits, PixLookups],
  exports: [EndToEndIds, PixCredits, PixLookups],
})
export class SandboxPixModule {}
