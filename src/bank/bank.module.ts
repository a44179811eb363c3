import { Global, Module } from '@nestjs/common';
import { BankConnections } from './bank-connections.service.js';
import { BankLimits } from './bank-limits.service.js';
import { BankService } from './bank.service.js';

// Global: one door, which several rooms go through.
@Global()
@Module({ providers: [BankService, BankConnections, BankLimits], exports: [BankService] })
export class BankModule {}
