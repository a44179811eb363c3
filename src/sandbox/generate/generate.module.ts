import { Module } from '@nestjs/common';
import { SandboxAccountsModule } from '../accounts/accounts.module.js';
import { SandboxControlModule } from '../control/control.module.js';
import { SandboxLedgerModule } from '../ledger/ledger.module.js';
import { GenerateController } from './generate.controller.js';
import { LineGenerator } from './generate.service.js';

@Module({
  imports: [SandboxAccountsModule, SandboxControlModule, SandboxLedgerModule],
  controllers: [GenerateController],
  providers: [LineGenerator],
})
export class SandboxGenerateModule {}
