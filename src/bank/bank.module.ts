import { Global, Module } from '@nestjs/common';
import { BankConnections } from './bank-connections.service.js';
import { BankMetrics } from './bank-metrics.service.js';
import { BankLimits } from './bank-limits.service.js';
import { BankService } from './bank.service.js';
import { SandboxControl } from './sandbox-control.service.js';

// Global: the only client of the bank, used by several modules.
@Global()
@Module({
  providers: [BankService, SandboxControl, BankConnections, BankLimits, BankMetrics],
  exports: [BankService, SandboxControl],
})
export class BankModule {}
