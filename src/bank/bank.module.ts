import { Global, Module } from '@nestjs/common';
import { BankService } from './bank.service.js';

// Global: one door, which several rooms go through.
@Global()
@Module({ providers: [BankService], exports: [BankService] })
export class BankModule {}
