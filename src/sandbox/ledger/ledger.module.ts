import { Module } from '@nestjs/common';
import { SandboxLedger } from './ledger.service.js';
import { LineVisibility } from './line-visibility.service.js';

@Module({
  providers: [LineVisibility, SandboxLedger],
  exports: [SandboxLedger],
})
export class SandboxLedgerModule {}
