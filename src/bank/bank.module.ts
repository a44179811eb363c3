import { Global, Module } from '@nestjs/common';
import { KeyTrial } from '../access/accounts/key-trial.js';
import { BankConnections } from './bank-connections.service.js';
import { BankKeyTrial } from './bank-key-trial.service.js';
import { BankMetrics } from './bank-metrics.service.js';
import { BankLimits } from './bank-limits.service.js';
import { BankService } from './bank.service.js';
import { SandboxControl } from './sandbox-control.service.js';

// Global: the only client of the bank, used by several modules.
@Global()
@Module({
  providers: [
    ...[BankService, SandboxControl, BankConnections, BankLimits, BankMetrics],
    { provide: KeyTrial, useClass: BankKeyTrial },
  ],
  exports: [BankService, SandboxControl, KeyTrial],
})
export class BankModule {}
